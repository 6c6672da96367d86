/* Abbreviations and words at the beginnings of sentences. Collected from common knowledge; nothing was taken from
 * another program's lists. A word that may also end a sentence is in `before_name`, unless small letters usually follow
 * it
 * ("etc."): then it is in no list, as no sentence begins with a small letter. */
#include "sentences.h"

#include <string.h>

#define COMMON                                                                                                         \
    .never = "dr prof st mr mrs ms", .before_number = "no nr nº n° p pp vol fig", .before_name = "jr sr inc ltd co corp"

static const ferry_sentence_language common = {COMMON};

static const ferry_sentence_language languages[] = {
    {
        .names = "en eng english",
        .never =
            "c assoc mr mrs ms messrs mmes dr drs prof profs rev revd fr hon pres gov sen sens rep reps sgt cpl pvt "
            "capt cmdr comdr col maj gen lt lieut adm brig supt insp det st ste mt mts ft messr mx esq amb atty sec "
            "dept assn vs v viz cf e.g i.e eg ie approx est aka resp incl ed eds trans msgr mlle mme sr.dr",
        .before_number = "no nos nr p pp pg pgs fig figs art arts sec ch chap chaps vol vols ver pt pts par para cl eq "
                         "eqs ref refs sect tab exh ln ll app jan feb mar apr jun jul aug sep sept oct nov dec op opp "
                         "rm ext tel n° rs mon tue wed thu fri sat sun",
        .before_name =
            "inc ltd co corp plc llc jr sr bro univ ave blvd rd hwy tel ph.d m.d b.a m.a b.sc m.sc d.phil a.m p.m pm "
            "u.s u.k u.n e.u jan feb mar apr jun jul aug sep sept oct nov dec tue tues thu thur thurs calif colo conn "
            "fla ga ind kan ky md mich minn mont neb nev okla penn tenn tex va vt wis wyo ariz etal a.k.a intl bros",
        .starters =
            "a mr mrs ms dr after all also although am an and another any anyone are as at be because been before "
            "being both "
            "but by can could did do does don during each even every everyone everything few finally first for "
            "from had has have he hence her here hers his how however i if in instead is it its just last later "
            "let like many maybe meanwhile more most much my never next no nobody none nor not nothing now of "
            "often on once one only or other our over perhaps please several she should since so some someone "
            "sometimes soon such than thanks that the their then there therefore these they this those though "
            "through thus to today together tomorrow tonight too two under unless until unlike was we well were "
            "what when where whether which while who whose why will with within without would yes yesterday yet you "
            "your",
    },
    {
        .names = "de deu ger german deutsch",
        .never =
            "h -str dr prof hr hrn fr frl dipl ing med jur rer nat habil st bzw ca vgl z u a d s o zz zzt z.b d.h u.a "
            "o.ä u.ä i.d.r z.t z.zt evtl ggf inkl exkl bspw sog gem lt bes geb gest verh kath ev gen insb einschl "
            "zzgl abzgl max min mind usf resp hl frhr gebr röm griech engl franz dt ital span lat amerik str pl "
            "tel ehem kgl chr allg",
        .before_number =
            "-nr nr nrn abs art abb bd bde s kap tab ziff anm aufl fig fn par rdnr rn vers ver lfd bl hs jg "
            "jh tel pos mo di mi do fr sa so jan feb febr apr jun jul aug sep sept okt nov dez",
        .before_name = "usw etc gmbh co inc ltd corp jr sen jun jh jhd jhdt mio mrd tsd std hbf n.chr v.chr bzgl a.d "
                       "e.v a.m p.m u.s o.g phil",
        .starters =
            "aber ab alle allein allerdings alles als also am an andere anders auch auf aus außerdem bald bei beide "
            "bis "
            "bitte da dabei dadurch dafür dagegen daher damals damit danach daneben dann daran darauf daraus darin "
            "darum "
            "darunter das dass davon dazu deine dem den denn dennoch der deren des deshalb deswegen die dies diese "
            "diesem diesen dieser dieses doch dort du durch ein eine einem einen einer eines einige er erst es etwa "
            "etwas euer für ganz gegen gibt hat hast haben heute hier hierbei hinter ich ihm ihn ihnen ihr ihre im "
            "immer "
            "in indem insgesamt ist ja jede jeder jedes jedoch jemand jetzt kann kannst kein keine keiner können "
            "könnte "
            "manche man mein meine mir mit möchte möchtest nach nachdem natürlich neben nein nicht nichts niemand noch "
            "nun nur ob obwohl oder oft ohne schließlich schon sein seine seit seitdem sie sind so sobald somit später "
            "statt trotz trotzdem über um und unser unsere unter viele vielleicht vom von vor während wann war waren "
            "warum was weder weg wegen weil welche welcher wem wen wenn wer werden weshalb wie wieder wieso will "
            "willst "
            "wir wird wo woher wohin würde zu zudem zuerst zufolge zum zunächst zur zwar zwischen",
        .ordinals = true,
    },
    {
        .names = "fr fra fre french français",
        .never = "m mm mr mrs mme mmes mlle mlles dr drs pr prof me mgr st ste cf p.ex ex c.-à-d c.a.d env av apr éd "
                 "éds dir vs resp rev réf cap col gén lt cdt sgt bd boul fg adj masc fém sing plur trad vol ann v",
        .before_number = "no n p pp art al fig chap ch vol t tél tel n° nº nos réf par §",
        .before_name = "inc ltd co corp jr cie sté s.a u.s janv févr sept oct nov déc j.-c hab",
        .starters =
            "à afin ainsi alors après au aucun aujourd auparavant aussi autrefois aux avant avec beaucoup bien "
            "bref c ça car ce ceci cela celle celles celui cependant certains ces cet cette ceux chacun chaque "
            "chez comme comment combien contrairement d dans de depuis dès des deux devant donc dont du durant "
            "elle elles en encore enfin ensuite entre est et étant eux grâce hier ici il ils j jamais je jusqu l la "
            "là le lequel les leur leurs lorsque lors lui ma mais malgré merci mes moi moins mon n nos notre nous "
            "on or ou où par parce parfois parmi pas pendant peu peut plus plusieurs pour pourquoi pourtant "
            "puis puisque qu quand quant que quel quelle quelles quels quelques qui quoi quoique s sa sans sauf "
            "se selon ses si soit son sous sur surtout ta tandis te tes toi ton tous tout toute toutefois toutes "
            "très trop tu un une vers voici voilà vos votre vous",
    },
    {
        .names = "es spa spanish español castellano",
        .never = "sr sra sres sras srta srtas dr dra dres dras prof profa d dn dña lic licda ing arq gral cnel cap tte "
                 "sto sta fr mons rvdo excmo excma ilmo ilma ej p.ej vs cf cfr av avda c.c dpto dept depto ud uds vd "
                 "vds aprox admón izq dcha dir ed eds esq fig gob min máx pral prov trad vol núm v st mt mr mrs",
        .before_number = "no nº n° núm num nums p pp pág págs art arts fig cap caps vol vols tel tfno t ext n párr "
                         "párrf inc cra cl nov dic oct sep sept feb jun jul ago may lun mié jue vie sáb dom ene abr",
        .before_name = "inc ltd co corp jr cía s.a u.s ee.uu uu u ee hs km kms hnos a.c d.c d.j.c a.m p.m feb mar may "
                       "jun jul sep sept set oct nov dic etal bros",
        .starters =
            "a además ahora al algo algunas algunos allí ante antes aquel aquella aquí así aún aunque ayer bajo "
            "bien cada casi como cómo con contra cual cuál cuando cuándo cuánto cuyo de debido del desde después "
            "dicha dicho donde dónde dos durante e el él ella ellas ello ellos en entonces entre era es esa esas "
            "ese eso esos esta está estas este esto estos estaba fue fueron gracias ha había han hasta hay hoy "
            "igualmente "
            "incluso la las le les lo los luego mañana más me mediante mi mientras mis mucho muchos muy nada nadie "
            "ni ningún ninguno no nos nosotros nuestra nuestro nunca o otra otras otro otros para pero poco por "
            "porque posteriormente primero pues que qué quien quién quienes quizás se según ser si sí siempre sin "
            "sobre sólo solo son su sus también tampoco tan te tiene toda todas todavía todo todos tras tu tú "
            "tuvo un una unas uno unos usted y ya yo",
    },
    {
        .names = "it ita italian italiano",
        .never = "sig sigg sig.ra sig.na sigra signa dott dott.ssa dottssa dr prof prof.ssa profssa ing avv arch geom "
                 "rag dep mons don s ss st sto cav comm col cap serg amm dir pres min psicol gent egr spett ill rev "
                 "ecc.mo preg p.es es ad.es cfr vs ed ecc.ti lett trad vol f.lli fam p.zza v.le v.cte c.so meteor "
                 "idraul econ d r.d l d.l d.lgs gazz uff v mr mrs",
        .before_number =
            "n nr no nn num p pp pag pagg art artt fig cap vol voll tel t ext co c comma par sez all tab lett "
            "gen feb apr mag giu lug ago set sett ott nov dic lun mer gio ven sab dom mar lgs",
        .before_name = "inc ltd co corp jr s.p.a spa s.r.l srl snc a.c d.c u.s c.p c.c c.p.c",
        .starters =
            "a abbiamo ad adesso agli ai al alcune alcuni alla alle allo allora altri anche ancora anzi appena "
            "bene c ce certo che chi ci ciò come con così cosa cui da dagli dai dal dalla dalle dato davvero "
            "degli dei del dell della delle di dopo dove due dunque durante e è ecco ed egli ella era erano essa "
            "esse essi essendo fin fino forse fra fu già gli grazie ha hai hanno ho i ieri il in infatti infine "
            "inoltre insomma intanto invece io l la le lei li lo loro lui ma mai me mentre mi mia mio molte molti "
            "molto ne negli nei nel nell nella nelle nessuno niente noi non nonostante nostra nostro o oggi ogni "
            "ognuno oltre ora ormai per perché perciò però più piuttosto poi poiché pure qual quale quali qualcuno "
            "quando quanto quasi quel quella quelle quelli quello questa queste questi questo qui quindi sarà se "
            "secondo sei sembra sempre senza si sia siamo sì siccome sono sotto stato su sua sue sui sul sulla "
            "suo suoi te ti tra tu tutta tutte tutti tuttavia tutto un una uno vi voi",
    },
    {
        .names = "pt por portuguese português",
        .never = "sr sra srs sras srta srtas dr dra drs dras d dom prof profa profª eng engª arq adv gen cel cap ten "
                 "sarg maj alm exmo exma ilmo ilma v pe fr sto sta s p.ex ex cf vs av trav tv pç lgo dir dept depto "
                 "aprox min máx ed eds org orgs trad vol pres gov sen dep min rev revmo ss mons st mr mrs",
        .before_number =
            "n no nº n° num núm p pp pág págs art arts fig cap caps vol vols tel ext inc t sec séc cx apto "
            "jan fev mar abr jun jul ago set out nov dez",
        .before_name =
            "inc ltd ltda co corp jr cia s.a u.s e.u.a eua a.c d.c jan fev mar abr mai jun jul ago set out nov "
            "dez séc sécs km",
        .starters =
            "a à ainda além algumas alguns ali antes ao aos apenas após apesar aquela aquele aqui as às assim até "
            "atualmente bem cada caso com como conforme contudo da daí das de depois desde dessa deste do dois "
            "dos durante e é ela elas ele eles em embora enfim enquanto então entre entretanto era essa essas "
            "esse esses esta está estas este estes estou eu foi foram graças há hoje isso isto já lá logo mais "
            "mas me mesmo meu minha muita muitas muito muitos na nada não nas nem nenhum ninguém no nos nós nossa "
            "nosso num numa nunca o obrigado onde ontem os ou outra outras outro outros para pela pelas pelo pelos "
            "pois por porém porque portanto pouco primeiro quando quanto quase que quem qual quais se segundo seja "
            "sem sempre ser será seu seus sim só sob sobre sua suas também tão te tem teu toda todas todavia todo "
            "todos trata tu tudo um uma umas uns você vocês",
    },
    {
        .names = "ru rus russian русский",
        .never =
            "г ул пл пр просп пер бул наб шос д кв корп стр обл р-н пос дер с им проф акад доц д-р г-н г-жа г-жи г-ну "
            "гр тов св ср см напр т т.е т.н т.к т.о англ нем фр франц лат греч ит исп рус русск яп кит букв род ум ок "
            "прибл макс ген полк подп кап лейт сер пгт хут ст рук зам зав нач ред сост изд оз о-в мн ед муж жен",
        .before_number = "№ рис табл гл ст с стр т п пп ч вып кн кл разд",
        .before_name = "др пр д п т.д т.п т.ч в вв до н э н.э долл дол евро тыс млн млрд трлн у.е ч прим н.с ст инк "
                       "лтд мл ст.с гг",
        .starters =
            "а без более бы был была были было в вам вас ваш ведь весь во возможно вот все всё вскоре вследствие вы "
            "где да "
            "даже для до его ее её если есть ещё еще же за здесь и из из-за или им именно иногда их к как какая "
            "какие какой когда кого конечно кому которая которые который кроме кто куда летом между меня мне многие "
            "может "
            "можно мой мы на над нам нас находится наш не него нее ней некоторые несмотря нет ни никто ничего но ну о "
            "об "
            "однако он она они оно от очень первый перед по под позднее поэтому после потом почему почти при про "
            "против "
            "пусть раньше с сам сейчас сегодня сколько со согласно спасибо среди так также такая такие такой там твой "
            "тебе тебя тем теперь то тогда тоже только том тот три ты у уже хотя часто чего чем через что чтобы эта "
            "эти это этот я являлся является",
    },
    {.names = "hy hye arm armenian", COMMON, .stops = ":"},
    {.names = "el ell gre greek", COMMON, .stops = ";"},
    {.names = "da dan cs ces cze sk slk slo pl pol hu hun fi fin no nor nb nob nn nno is isl ice sl slv hr hrv sr srp "
              "bs bos et est "
              "lv lav lt lit tr tur",
     COMMON,
     .ordinals = true},
};

/* Of "deu_Latn" or "de-AT", "deu" and "de". */
static size_t language_part(const char *name)
{
    return strcspn(name, " _-");
}

const ferry_sentence_language *ferry_sentence_language_find(const char *names)
{
    for (const char *name = names != NULL ? names : ""; *name != '\0';
         name += strcspn(name, " "), name += *name == ' ') {
        const size_t size = language_part(name);
        for (size_t i = 0; i < sizeof languages / sizeof languages[0]; i++)
            for (const char *own = languages[i].names; *own != '\0'; own += strcspn(own, " "), own += *own == ' ')
                if (strcspn(own, " ") == size && size > 0 && ferry_compare_letters(own, name, size) == 0)
                    return &languages[i];
    }
    return &common;
}
