"""Stop words by language: kept as `s:` tokens, apart from what BM25 counts.

The lists are short on purpose. Words that also name something stay out of them: `may`,
`will`, `us`. A contraction stands with its apostrophe and, where people leave it out,
without. Languages that are not here have none.
"""

from __future__ import annotations

_EN = """
a about above after again against all also am an and any are as at be because been before being
below between both but by can could did do does doing down during each few for from further had
has have having he her here hers herself him himself his how i if in into is it its itself just
me more most my myself no nor not of off on once only or other our ours ourselves out over own
same shall she should so some such than that the their theirs them themselves then there these
they this those through to too under until up upon very was we were what when where which while
who whom whose why with would you your yours yourself yourselves eg ie
i'm i've i'd i'll you're you've you'd you'll he'd he'll she'd she'll we're we've we'd we'll
they're they've they'd they'll it'd it'll that'll that'd there'll there'd who'd who'll what're
how're where're isn't aren't wasn't weren't don't doesn't didn't won't wouldn't can't couldn't
shan't shouldn't haven't hasn't hadn't mustn't mightn't needn't ain't
im ive isnt arent wasnt werent dont doesnt didnt wont wouldnt cant couldnt shouldnt havent hasnt
hadnt theyre youre whats thats
"""
_DE = """
aber als am an auch auf aus bei bin bis da damit das dass dem den der des die dies diese diesem
diesen dieser dieses doch du ein eine einem einen einer eines er es euch euer für hab habe haben
hat hatte hatten ich ihm ihn ihnen ihr ihre im in ist ja kann kein keine man mein meine mich mir
mit nach nicht noch nur ob oder ohne sehr sein seine sich sie sind so um und uns unser vom von vor
war waren warum was weil wenn wer wie wird wir wird wo wurde zu zum zur über
"""
_FR = """
à au aux avec car ce ces cet cette comme dans de des donc du elle elles en es est et était été être
eu il ils je la le les leur leurs lui ma mais me mes moi mon ne nos notre nous on ont ou où par pas
plus pour qu quand que quel quelle qui quoi sa sans se ses si son sont sur ta te tes toi ton tu un
une vos votre vous y ai as avait
"""
_ES = """
a al algo como con cual cuando cuándo de del desde donde dónde e el él ella ellas ellos en entre era
es esa ese eso esta está están estas este esto estos fue ha han hay la las le les lo los más me mi
mis muy no nos o para pero por porque que qué quien quién se ser si sí sin sobre son su sus te
tiene tu tus un una uno unos y ya yo cómo cuál
"""
_IT = """
a ad ai al alla alle anche che chi ci come con da dal dalla dei del della delle di dove e è ed era gli
ha hanno ho i il in io la le lei li lo loro lui ma mi mio nel nella no noi non o per perché più
quando quale quello questa questo se sei si sia sono su sua suo ti tra tu tuo un una uno vi
"""
_PT = """
a ao aos as até com como da das de dele do dos e é ela elas ele eles em entre era essa esse esta
este eu foi há isso já lhe mais mas me meu minha muito na não nas nem no nos o onde os ou para pela
pelo por porque qual quando que quem se sem ser seu sua são só também te tem teu tu um uma você
"""
_NL = """
aan al als bij dan dat de deze die dit doch door een en er ge geen haar had heb hebben heeft hem
het hier hij hoe hun ik in is ja je kan maar me men met mij mijn na naar niet nog nu of om omdat
ons ook op over te tot u uit van voor waar waarom wanneer waren was wat we werd wie wij zal ze zich
zij zijn zo zou
"""
_SV = """
alla att av blev bli blir då de dem den denna det detta dig din du där efter ej eller en ett från
för ha hade han har hans hennes hon hur här i inte jag kan kom man med men mig min mot ni nu när
och om oss på samma sig sin ska skulle som så till under upp ut vad var varför vem vi vid vår är
över
"""
_DA = """
af alle at blev bliver da de dem den denne der deres det dette dig din du efter eller en end er et
for fra ham han har havde hendes her hos hun hvad hvem hvis hvor hvordan hvorfor i ikke ind jeg kan
man med meget men mig min ned nu når og også om op os på sig sin skal som så til ud under var ved
vi vil være
"""
_NB = """
alle at av ble blir da de dem den denne der deres det dette deg din du eller en enn er et etter for
fra ham han har hadde hennes her hos hun hva hvem hvis hvor hvordan hvorfor i ikke inn jeg kan man
med meg men min når nå og også om opp oss på seg sin skal som så til ut var ved vi vil være
"""
_FI = """
ei että en he hän ja jo joka jos kanssa kuin kun me mikä minä mitä missä miten milloin mutta
myös ne niin no nyt oli olla on ovat se sekä sen siinä sinä tai te tämä tässä vai vain
"""
_HU = """
a az azt csak de egy el és ez ezt ha hogy hol honnan hogyan én igen is itt ki kik le lesz már meg
mert mi mikor mint mit most nem ő ők ott van vagy volt
"""
_RO = """
a al ale am ar are as au ca care ce cea cel cu cum că când da dar de din după el ea ei ele este eu
fi fost iar în îi îl la le lui mai mi ne nu o or pe pentru prin să sau se si și sunt te tu un una
unde unei unui va vor
"""
_RU = """
а без бы был была были было быть в вам вас весь во вот все всё вы где да для до его ее её если есть
еще ещё же за и из или им их к как какой когда кто ли мы на над не него нет ни но ну о об он она
они оно от по под при с со так также там то того тоже только ты у уже что чтобы это этот я
"""
_AR = """
في من على إلى عن مع هذا هذه ذلك تلك التي الذي الذين هو هي هم نحن أنا أنت كان كانت ما لا لم لن
أن إن أو و ثم قد كل بعد قبل بين عند أين متى كيف لماذا هل
"""

STOP_WORDS: dict[str, frozenset[str]] = {
    language: frozenset(words.split())
    for language, words in {
        "ar": _AR, "da": _DA, "de": _DE, "en": _EN, "es": _ES, "fi": _FI, "fr": _FR, "hu": _HU,
        "it": _IT, "nb": _NB, "nl": _NL, "pt": _PT, "ro": _RO, "ru": _RU, "sv": _SV,
    }.items()
}  # fmt: skip
