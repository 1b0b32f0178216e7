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
The train to the airport leaves every ten minutes.
My uncle grows tomatoes behind his house.
Can I leave my suitcase here until noon?
The lamp in the hall does not work any more.
We watched the stars from the roof last night.
Someone knocked at the door and went away.
Her daughter wants to become a pilot.
There is no sugar left in the cupboard.
Turn off the oven before you go out.
The letter was hidden under a pile of newspapers.
I usually wake up before the sun rises.
The hotel is only two streets from here.
His grandfather fixed clocks for a living.
Would you mind opening the window a little?
The river is too deep to cross on foot.
They painted the fence white on Saturday.
I lost my keys somewhere in the park.
Nothing tastes better than warm bread.
The meeting was moved to Thursday afternoon.
A young couple lives on the third floor.
The dentist told me to come back in June.
We ran out of milk this morning.
Take the stairs, the lift is broken.
The market opens early and closes at two.
She speaks three languages and plays the violin.
My phone fell into the sink again.
It took us an hour to find a parking space.
The baby laughed when the dog sneezed.
Put the plates on the lower shelf, please.
Our flight was delayed because of the storm.
He reads the news on the way to work.
The garden needs water twice a day in summer.
I have a sore throat and a headache.
They built a bridge over the narrow canal.
Is there a pharmacy near the church?
The shirt is cheap, but it does not fit me.
We saw a fox at the edge of the forest.
Please count the chairs before the guests arrive.
The old radio still plays, but very quietly.
Nobody told me about the change of plans.
A cold wind blew through the empty street.
She wrote her number on the back of a ticket.
The kitchen smells of onions and butter.
How far is it from your house to the sea?
The driver waited until everyone was seated.
I forgot to water the plants last week.
The shop on the corner sells good cheese.
We will paint the bedroom light yellow.
The lesson begins at nine and ends at noon.
Thank you for waiting so long in the rain.
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
The lizard basked on a ledge of warm slate.
Gusts of hail drummed on the tin shed.
A spool of thread rolled behind the loom.
The brass lamp threw a dim glow on the map.
Salt crusted the hull of the beached skiff.
Stack the planks beside the old stone well.
Crisp toast and plum jam make a good snack.
The heron stood still among the reeds.
Wipe the grease off the hinge with a rag.
A swarm of gnats hung over the pond.
The clerk stamped each form twice.
Steam hissed from a crack in the pipe.
Nine crows perched on the bare birch.
The drummer tapped a slow, dull beat.
Bend the wire until it forms a hook.
The thief slipped through a gap in the hedge.
Coarse gravel crunched under the cart.
Her shawl was dyed a pale shade of rose.
The kiln must cool before you lift the lid.
A loose shutter banged against the frame.
The guide pointed at a cave in the cliff.
Thaw the frozen peas in a shallow bowl.
The crew hauled the nets at first light.
Ripe figs split in the heat of the day.
The cobbler glued a patch to the heel.
Smoke curled up from the charred stump.
Grind the pepper to a coarse dust.
The ferry drifted past the last buoy.
A badger dug holes along the ridge.
The monk copied the verse in red ink.
Thin ice cracked beneath the sledge.
The tailor chalked a line across the cuff.
Fetch the ladder and prune the tall pear tree.
The brook foamed where it met the dam.
Rust had eaten through the garden gate.
The choir hummed while the bell tolled.
Twist the lid and pour the brine away.
A stray calf blocked the gravel lane.
The wax dripped on the carved oak bench.
Sweep the crumbs into the tin pail.
The scout marked the trail with white chalk.
Moths circled the bulb on the porch.
Her horse balked at the fallen trunk.
The potter kneaded a lump of grey clay.
Sleet turned the footpath into slush.
Hang the wet cloak beside the stove.
The miller filled the sack with rye.
A flint spark lit the dry moss.
The barge scraped along the quay wall.
Knot the cord twice and trim the ends.
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

# A word in each that the first 8,000 words of English do not hold, and what it is.
RARE = {
    "The otter slept on the bank.": "otter",
    "We had aubergine for dinner.": "aubergine",
    "She bought a turquoise scarf.": "turquoise",
    "The walrus looked at the boat.": "walrus",
    "He plays the accordion very well.": "accordion",
    "The doctor used a stethoscope.": "stethoscope",
    "There was cinnamon in the cake.": "cinnamon",
    "The picture shows a rhinoceros.": "rhinoceros",
    "They live in a caravan by the sea.": "caravan",
    "A woodpecker woke us up.": "woodpecker",
    "My sister collects thimbles.": "thimbles",
    "The lighthouse has a spiral staircase.": "staircase",
    "Please bring me the tweezers.": "tweezers",
    "We planted lavender by the door.": "lavender",
    "The squirrel ran up the tree.": "squirrel",
    "He wore a corduroy jacket.": "corduroy",
    "The soup needs some parsley.": "parsley",
    "A hedgehog lives in our garden.": "hedgehog",
    "The parrot can say good morning.": "parrot",
    "She put rhubarb in the pie.": "rhubarb",
    "The tortoise walked very slowly.": "tortoise",
    "We saw a gondola on the water.": "gondola",
    "The blacksmith made a new gate.": "blacksmith",
    "I keep my brushes in a satchel.": "satchel",
}

# Sentences one after the other without a sign between them, as people type.
RUN_ON = """
we went to the market in the morning and bought some bread then we walked home along the river and had a cup of tea
my brother called me last night he said that he will come on friday with the early train and stay for a week
the weather was cold so we stayed at home and played cards my sister made some soup and we watched an old movie
please turn left at the corner then go straight on until you see a white house the door is open you can walk in
i do not know where i put my keys they were on the table this morning maybe the children took them to the garden
she works in a small shop near the station in the evening she plays the piano and on sunday she visits her mother
the teacher opened the book and read a short story all the children were quiet then the bell rang and they went home
first you wash the apples then you cut them into small pieces and put them in the pan with some butter and sugar
we wanted to go to the beach but the bus was late so we took a walk in the park and fed the birds by the water
he said good morning and sat down at the window nobody answered him because everyone was looking at the snow outside
""".strip().splitlines()
