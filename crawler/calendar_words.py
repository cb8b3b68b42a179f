"""Names of months and days of the week, whole and short, in many languages, as the Unicode CLDR has them."""

from __future__ import annotations

# One language a line: words as they are found in running text, without digits and in small letters.
_NAMES = """
january february march april may june july august september october november december jan feb mar apr jun jul aug
sep oct nov dec sunday monday tuesday wednesday thursday friday saturday sun mon tue wed thu fri sat
januar februar märz april mai juni juli august september oktober november dezember jan feb apr aug sept okt nov
dez mär jun jul sep sonntag montag dienstag mittwoch donnerstag freitag samstag so mo di mi do fr sa
jänner februar märz april mai juni juli august september oktober november dezember jän feb apr aug sep okt nov dez
januar mär jun jul sonntag montag dienstag mittwoch donnerstag freitag samstag so mo di mi do fr sa
janvier février mars avril mai juin juillet août septembre octobre novembre décembre janv févr avr juil sept oct
nov déc dimanche lundi mardi mercredi jeudi vendredi samedi dim lun mar mer jeu ven sam
enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre ene feb mar abr may jun
jul ago sept oct nov dic domingo lunes martes miércoles jueves viernes sábado dom lun mié jue vie sáb
gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre gen feb mar apr mag
giu lug ago set ott nov dic domenica lunedì martedì mercoledì giovedì venerdì sabato dom lun mer gio ven sab
janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro jan fev mar abr mai jun
jul ago set out nov dez domingo segunda feira terça quarta quinta sexta sábado dom seg ter qua qui sex sáb
januari februari maart april mei juni juli augustus september oktober november december jan feb mrt apr jun jul
aug sep okt nov dec zondag maandag dinsdag woensdag donderdag vrijdag zaterdag zo ma di wo do vr za
januari februari mars april maj juni juli augusti september oktober november december jan feb apr aug sep okt nov
dec söndag måndag tisdag onsdag torsdag fredag lördag sön mån tis ons tors fre lör
januar februar marts april maj juni juli august september oktober november december jan feb mar apr jun jul aug
sep okt nov dec søndag mandag tirsdag onsdag torsdag fredag lørdag søn man tirs ons tors fre lør
januar februar mars april mai juni juli august september oktober november desember jan feb apr aug sep okt nov des
mar jun jul søndag mandag tirsdag onsdag torsdag fredag lørdag søn man tir ons tor fre lør
tammikuuta helmikuuta maaliskuuta huhtikuuta toukokuuta kesäkuuta heinäkuuta elokuuta syyskuuta lokakuuta
marraskuuta joulukuuta tammi helmi maalis huhti touko kesä heinä elo syys loka marras joulu tammikuu helmikuu
maaliskuu huhtikuu toukokuu kesäkuu heinäkuu elokuu syyskuu lokakuu marraskuu joulukuu sunnuntai maanantaina
tiistaina keskiviikkona torstaina perjantaina lauantaina su ma ti ke to pe la maanantai tiistai keskiviikko
torstai perjantai lauantai
janúar febrúar mars apríl maí júní júlí ágúst september október nóvember desember jan feb mar apr jún júl ágú sep
okt nóv des sunnudagur mánudagur þriðjudagur miðvikudagur fimmtudagur föstudagur laugardagur sun mán þri mið fim
fös lau
stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października listopada grudnia sty lut mar kwi
maj cze lip sie wrz paź lis gru styczeń luty marzec kwiecień czerwiec lipiec sierpień wrzesień październik
listopad grudzień niedziela poniedziałek wtorek środa czwartek piątek sobota niedz pon wt śr czw pt sob
ledna února března dubna května června července srpna září října listopadu prosince led úno bře dub kvě čvn čvc
srp zář říj lis pro leden únor březen duben květen červen červenec srpen říjen listopad prosinec neděle pondělí
úterý středa čtvrtek pátek sobota ne po út st čt pá so
januára februára marca apríla mája júna júla augusta septembra októbra novembra decembra jan feb mar apr máj jún
júl aug sep okt nov dec január február marec apríl august september október november december nedeľa pondelok
utorok streda štvrtok piatok sobota ne po ut st št pi so
januar februar marec april maj junij julij avgust september oktober november december jan feb mar apr jun jul avg
sep okt nov dec nedelja ponedeljek torek sreda četrtek petek sobota ned pon tor sre čet pet sob
siječnja veljače ožujka travnja svibnja lipnja srpnja kolovoza rujna listopada studenoga prosinca sij velj ožu tra
svi lip srp kol ruj lis stu pro siječanj veljača ožujak travanj svibanj lipanj srpanj kolovoz rujan listopad
studeni prosinac nedjelja ponedjeljak utorak srijeda četvrtak petak subota ned pon uto sri čet pet sub
јануар фебруар март април мај јун јул август септембар октобар новембар децембар јан феб мар апр авг сеп окт нов
дец недеља понедељак уторак среда четвртак петак субота нед пон уто сре чет пет суб
január február március április május június július augusztus szeptember október november december jan febr márc
ápr máj jún júl aug szept okt nov dec vasárnap hétfő kedd szerda csütörtök péntek szombat sze cs szo
ianuarie februarie martie aprilie mai iunie iulie august septembrie octombrie noiembrie decembrie ian feb mar apr
iun iul aug sept oct nov dec duminică luni marți miercuri joi vineri sâmbătă dum lun mie vin sâm
януари февруари март април май юни юли август септември октомври ноември декември яну фев апр авг сеп окт ное дек
неделя понеделник вторник сряда четвъртък петък събота нд пн вт ср чт пт сб
января февраля марта апреля мая июня июля августа сентября октября ноября декабря янв февр мар апр июн июл авг
сент окт нояб дек январь февраль март апрель май июнь июль август сентябрь октябрь ноябрь декабрь воскресенье
понедельник вторник среда четверг пятница суббота вс пн вт ср чт пт сб
січня лютого березня квітня травня червня липня серпня вересня жовтня листопада грудня січ лют бер квіт трав черв
лип серп вер жовт лист груд січень лютий березень квітень травень червень липень серпень вересень жовтень листопад
грудень неділя понеділок вівторок середа четвер пʼятниця субота нд пн вт ср чт пт сб
ιανουαρίου φεβρουαρίου μαρτίου απριλίου μαΐου ιουνίου ιουλίου αυγούστου σεπτεμβρίου οκτωβρίου νοεμβρίου δεκεμβρίου
ιαν φεβ μαρ απρ μαΐ ιουν ιουλ αυγ σεπ οκτ νοε δεκ ιανουάριος φεβρουάριος μάρτιος απρίλιος μάιος ιούνιος ιούλιος
αύγουστος σεπτέμβριος οκτώβριος νοέμβριος δεκέμβριος μάρ μάι ιούν ιούλ αύγ νοέ κυριακή δευτέρα τρίτη τετάρτη
πέμπτη παρασκευή σάββατο κυρ δευ τρί τετ πέμ παρ σάβ
ocak şubat mart nisan mayıs haziran temmuz ağustos eylül ekim kasım aralık oca şub mar nis may haz tem ağu eyl eki
kas ara pazar pazartesi salı çarşamba perşembe cuma cumartesi paz pzt sal çar per cum cmt
jaanuar veebruar märts aprill mai juuni juuli august september oktoober november detsember jaan veebr apr aug sept
okt nov dets pühapäev esmaspäev teisipäev kolmapäev neljapäev reede laupäev
janvāris februāris marts aprīlis maijs jūnijs jūlijs augusts septembris oktobris novembris decembris janv febr apr
jūn jūl aug sept okt nov dec svētdiena pirmdiena otrdiena trešdiena ceturtdiena piektdiena sestdiena svētd pirmd
otrd trešd ceturtd piektd sestd
sausio vasario kovo balandžio gegužės birželio liepos rugpjūčio rugsėjo spalio lapkričio gruodžio saus vas kov bal
geg birž liep rugp rugs spal lapkr gruod sausis vasaris kovas balandis gegužė birželis liepa rugpjūtis rugsėjis
spalis lapkritis gruodis sekmadienis pirmadienis antradienis trečiadienis ketvirtadienis penktadienis šeštadienis
sk pr an tr kt pn št
de gener febrer març abril maig juny juliol agost setembre octubre novembre desembre gen febr abr jul ag set oct
nov des diumenge dilluns dimarts dimecres dijous divendres dissabte dg dl dt dc dj dv ds
urtarrila otsaila martxoa apirila maiatza ekaina uztaila abuztua iraila urria azaroa abendua urt ots mar api mai
eka uzt abu ira urr aza abe igandea astelehena asteartea asteazkena osteguna ostirala larunbata ig al ar az og or
lr
xaneiro febreiro marzo abril maio xuño xullo agosto setembro outubro novembro decembro xan feb mar abr xul ago set
out nov dec domingo luns martes mércores xoves venres sábado dom mér xov ven sáb
januari februari maret april mei juni juli agustus september oktober november desember jan feb mar apr jun jul agu
sep okt nov des minggu senin selasa rabu kamis jumat sabtu min sen sel rab kam jum sab
januari februari mac april mei jun julai ogos september oktober november disember jan feb apr jul ogo sep okt nov
dis ahad isnin selasa rabu khamis jumaat sabtu ahd isn sel rab kha jum sab
tháng thg chủ nhật thứ hai ba tư năm sáu bảy cn th
يناير فبراير مارس أبريل مايو يونيو يوليو أغسطس سبتمبر أكتوبر نوفمبر ديسمبر الأحد الاثنين الثلاثاء الأربعاء الخميس
الجمعة السبت
ژانویه فوریه مارس آوریل مه ژوئن ژوئیه اوت سپتامبر اکتبر نوامبر دسامبر یکشنبه دوشنبه سه شنبه چهارشنبه پنجشنبه جمعه
ינואר פברואר מרץ אפריל מאי יוני יולי אוגוסט ספטמבר אוקטובר נובמבר דצמבר ינו פבר אפר אוג ספט אוק נוב דצמ יום ראשון
שני שלישי רביעי חמישי שישי שבת
ינואר פברואר מרץ אפריל מאי יוני יולי אוגוסט ספטמבר אוקטובר נובמבר דצמבר ינו פבר אפר אוג ספט אוק נוב דצמ 일요일 월요일
화요일 수요일 목요일 금요일 토요일
"""
CALENDAR_WORDS = frozenset(_NAMES.split())
