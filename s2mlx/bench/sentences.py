"""Sentences that the bench has spoken and heard: plain English, short and long, no names and no numbers, which
recognizers write in ways of their own."""

SENTENCES = (
    "Good evening, and welcome back.",
    "I left my umbrella on the bus this morning.",
    "Could you turn the music down a little, please?",
    "The kitchen smells of fresh bread and coffee.",
    "We walked along the river until it got dark.",
    "Nobody knew why the lights went out.",
    "She keeps her letters in an old wooden box.",
    "The children are building a castle out of sand.",
    "It has been raining since early yesterday.",
    "Please read the first page again, but slowly.",
    "My grandfather planted this tree before I was born.",
    "The doctor said that everything looks fine.",
    "There is a small shop around the corner that sells stamps.",
    "If the weather holds, we can have lunch in the garden.",
    "He opened the window, looked outside, and closed it again.",
    "The last train had already left when they reached the station.",
    "I would rather stay at home tonight and finish this book.",
    "The cat slept on the chair all day and did not move once.",
    "When the snow melts in spring, the water in the lake rises quickly.",
    "They painted the door blue, the walls white, and the floor a dark shade of brown.",
    "The teacher asked a simple question, but it took the class a long time to find the answer.",
    "After the concert we waited outside for an hour, hoping that the singer would come out and say hello.",
    "A narrow path leads up the hill to a stone house, and from there one can see the whole valley and the sea.",
    "The baker gets up in the middle of the night, lights the oven, and has the first loaves ready before the town "
    "wakes up.",
)
