from .follower import follow as follow
from .join import Team as Team
from .join import in_team as in_team
from .leader import TeamSynthesizer as TeamSynthesizer
from .rounds import TeamLost as TeamLost
