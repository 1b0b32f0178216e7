"""Sentences that no stage trains on: the gates are measured on them."""

EVERYDAY = """
Hello, this is my first sentence.
Good morning, how are you today?
Thank you very much for your help.
I would like a cup of tea, please.
The weather is nice and warm this morning.
Where did you put my blue coat?
She will call you back after lunch.
We are going to the beach on Sunday.
Please close the door when you leave.
My brother works at the train station.
Can you tell me what time it is?
The soup is too hot to eat right now.
There are seven apples on the kitchen table.
He forgot his umbrella at the office.
Let us meet in front of the library.
I have never seen such a beautiful garden.
The children are playing in the yard.
Do you want to go for a walk with me?
Our new neighbor has two small dogs.
It will probably rain in the afternoon.
The book you gave me is very interesting.
They moved to another city last year.
I need to buy some bread and milk.
What would you like to eat tonight?
The bus was late again this morning.
You can find the answer on page twenty.
My mother is reading a letter from her sister.
The water in the lake is cold and clear.
I think we should turn left at the corner.
Nobody knows why the store is closed.
This road leads to a quiet village.
Could you speak a little more slowly?
The doctor said that everything is fine.
We had dinner at a small restaurant.
His car is parked behind the house.
I am looking for a birthday present.
The movie starts at half past eight.
Her voice is soft and friendly.
Please write your name on this paper.
The old man was sitting under a tree.
I will send you a message tomorrow.
The window is open, and it is getting cold.
They finished the work in three days.
My favorite color is green.
The teacher asked a simple question.
Be careful, the floor is still wet.
We could not hear the music from here.
She bought a ticket to the museum.
The cat is sleeping on the chair.
See you next week, and have a good trip.
""".strip().splitlines()

LONGER = """
When the rain finally stopped, we put on our shoes and walked down to the river to look at the boats.
My sister called me yesterday evening to say that she will arrive on Friday with the early train.
If you need anything from the market, please tell me now, because I am leaving in ten minutes.
The small house at the end of the street belongs to a painter who moved here many years ago.
I would like to order two cups of coffee, a glass of water, and a piece of apple cake.
After a long day at work he likes to sit in the garden and listen to the birds.
The teacher opened the window, smiled at the children, and asked them to tell a short story.
We wanted to visit the museum this morning, but it was closed, so we went to the park instead.
There is a large clock in the station, and it has been showing the wrong time for months.
Please take the second road on the right, cross the bridge, and wait for us in front of the bank.
Nobody in the village could remember a winter with so much snow and such cold nights.
The engine made a strange noise, so the driver stopped the bus and called for help.
She keeps her letters in a wooden box, together with some old pictures and a silver ring.
In the summer we often swim in the lake before breakfast, when the water is calm and clear.
You should drink more water, go to bed early, and take a long walk every day.
The number of visitors has grown every year, and the city is now building a second hotel.
He promised to repair my bicycle before the end of the week, but I do not think he will.
This computer is quite old, yet it still works well enough for writing and for music.
Bring a warm coat and good shoes, because the path to the top of the mountain is steep.
First heat the butter in a pan, then add the onions, and stir them slowly until they are soft.
""".strip().splitlines()

HARDER = """
A thick fog covered the narrow bay at dawn.
Fresh paint dries slowly on damp stone walls.
The quick goat jumped over a heap of straw.
Sharp tools lie in the drawer beneath the desk.
Brown leaves drift along the frozen ditch.
Pack the glass jars in a sturdy crate.
The judge wore a plain grey scarf to the feast.
Bright sparks flew from the blacksmith's forge.
Twelve geese crossed the muddy field in a line.
The sailor coiled a rope around the thick post.
""".strip().splitlines()

# What the clips of `evaluate clones` say: the first, the first two, four and six are about 3, 6, 11 and 16 seconds.
REFERENCE = """
The farmer sold his oldest horse to a merchant.
A gentle wind carried the smell of pine over the valley.
Seven sailors waited beside the harbor wall.
Their captain studied a faded map by candle light.
The baker wraps each loaf in brown paper.
Yellow leaves covered the steps behind the chapel.
""".strip().splitlines()
