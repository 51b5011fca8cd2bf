import { folded } from "../ranking/fold.ts";

/** Words of greetings, thanks, assent, apologies and farewells: a set for each language. */
export const PLEASANTRIES: readonly ReadonlySet<string>[] = [
  // German
  `abend alles also auch bald besten bin bis bitte bitteschön cool da dank danke dankeschön dann das dir doch du echt
  einen entschuldige entschuldigung es euch freut für ganz gar geht gehts gefreut genau gerne gern geschehen
  gleichfalls glück gruß grüße gut gute guten guter gutes hallo haha herzlichen heute hi hilfe hm hören ich ihnen ist
  ja kein keine klar klasse klingt leid lieb liebe lieben mir moin morgen na nacht nee nein nett nicht nichts noch oh
  okay ok passt perfekt prima problem recht richtig sache schade schlaf schön schöne schönen schönes sehr servus sorry
  später spaß stimmt super tag toll trotzdem tschau tschüss tut und verstanden verstehe viel viele vielen vom von war
  warte weiter wie wiedersehen wirklich wochenende wunderbar zu zum`,
  // French
  `à accord adieu aide ah aime alors allez après aussi au avec beaucoup bien bientôt bof bon bonjour bonne bonsoir bravo
  c ça chance ci ciao clair comme comment compris cool coucou d dac de demain désolé désolée dommage drôle du enchanté
  enchantée encore entendu est et êtes exact exactement excuse excusez faire fait félicitations génial gentil gentille
  grave haha hein hé hello heureux heureuse hi ici il j je journée l la le lol m ma mais marrant matin mdr merci mieux
  moi moins moment n ne nickel non nouveau nuit oh oui ok ouais ouah pardon parfait pas passe peu plaisir pour quelle
  qu rencontrer rencontre rien s salut sans soir soirée souci spécial super sûr sympa t ta tant te tellement toi
  toujours tout toute très trop tu un une vas va vais voilà vous vrai vraiment week-end week end y`,
  // Spanish
  `a acuerdo adiós agradezco ah ahora amable amigo así ayuda bien bueno buen buena buenas buenísimo buenos claro como
  cómo con conocerte correcto cuídate de del descansa día días disculpa disculpe el encantado encantada es eso espera
  está estás estoy estupendo exacto excelente fantástico favor feliz fin fue genial gracias gracioso gran gusto ha
  hasta haya he hola igual igualmente increíble jaja la las lo los luego mañana más me mejor mi mil momento mucha
  muchas muchísimas mucho muy nada no noche noches ok oye pasa perdón perdona perfecto pero placer por problema pronto
  pues qué rato saludos sé semana señor señora seguro sí siento sin solo suerte supuesto súper tal también tan tarde
  tardes te tenga ti todo tú tus un una usted va vale vamos vemos verdad verte y ya`,
  // Portuguese
  `a abraço abraços adeus agradecido agradecida ainda ajuda amanhã ao até beijo beijos bem beleza boa boas bom bons
  brigado brigada caramba certeza certo claro com como conhecê correto de demais desculpa desculpe dia dias disso do e
  é está estou exatamente excelente favor feliz fim fixe foi fofo grato grata haha hoje igualmente imagina incrível
  isso já joia kkk lo logo maravilha mais mas me mesmo muita muito muitos nada não noite nossa o obg obrigada obrigadão
  obrigado oi olá opa ótima ótimo para parabéns pela pelo pena perfeito pois por porreiro pouco prazer problema que
  rapaz saudações se semana sem sim só sou super tá também tarde tardes te tchau tenha to todo tudo um uma valeu vamos
  ver verdade vlw você`,
  // Italian
  `a ah allora altrettanto amico anche ancora andiamo arrivederci aspetta attimo auguri bella bello ben bene benissimo
  benvenuto bravo brava buon buona buonanotte buonasera buongiorno buono capito certamente certo che chiaro ciao come
  con conoscerti contento cosa così d da davvero del della di dispiace divertente domani dopo è e eccellente ecco
  esatto fa fantastico fatto favore fine figurati forte fortuna genial giornata giorno giusto grande grandioso grazie
  ha hai ho i il importa incredibile infinite interessante l la le lo ma magari meglio mi mille molte molto momento
  nessun niente no non notte o ok ottimo peccato per perfetto piacere più poco poi prego presto pronto problema proprio
  ragione sabato salve saluti scusa scusami scusate scusi se sei sembra sera serata settimana sì sicuro sogni d'oro oro
  sono splendido sta stai sto subito super ti tranquillo troppo tu tutto tutti un una va vediamo vero vi volentieri`,
  // Dutch
  `aan akkoord allemaal alles alsjeblieft alstublieft avond bedankt begrepen bent best bij bijna daag daar dag dan dank
  dankje dankjewel dankuwel dat de denk dit doeg doei duidelijk dus echt een eens en er erg even fijn fijne gaat geen
  gefeliciteerd gek gelijk gezellig goed goede goedemiddag goedemorgen goedenacht goedenavond goedendag graag groeten
  groetjes haha hé hallo heel helemaal hetzelfde het hey hi hier hoe hoi hulp iedereen ik is ja jammer je jij jou
  jullie klaar klinkt klopt later lekker leuk lief mee met mij moment mooi mooie morgen nacht natuurlijk nee niet niets
  nog nou oh oké ok om op perfect prachtig prettige prima probleem slaap snap sorry spijt straks super te tot u uit van
  vandaag veel vind volgende voor vriendelijk wacht wat weekend weer wel welkom welterusten werkt zeker ziens zie zien`,
  // Swedish, Danish and Norwegian
  `adjö alla alle allt alt att av bara beklager bra bravo då dag dagen de dejlig dejligt den det dig du en ett er
  fantastisk fantastiskt farvel fin fina fine fint flott för for forlåt förlåt förstår forstår fredag ganska går glad
  god goda goddag godkväll godmorgon godnat godnatt godt gott grattis gratulerer ha haha hallo hälsningar hei hej hejdå
  hejsan hel helg hello helt hi hilsen hjälp hjälpen hjælp hjælpen hjelp hjelpen hur hvordan hyggelig hyggeligt i igen
  igjen ikke imorgon imorgen ingen inget ja jag jaha japp javisst jeg jo kan klart kul kveld kväll ligemåde lige likaså
  lycka må mange många med meg mig morgen morgon mycket natt nat nå nej nei nemlig nice noe ok okej och og om os på
  perfekt problem rätt rigtig rigtigt riktig riktigt samma selv ses senere själv skal snart snälla så sorry stämmer
  stemmer super synd ta tack tak takk til till träffas trevlig trevligt tusen tusind undskyld unnskyld utmärkt vad vær
  vær vällkommen välkommen väldigt vi vores`,
  // Polish, Czech and Slovak
  `ach ahoj aha ale bardzo będzie brawo cau čau cześć chwila chwilę co czego dekuji děkuji děkuju ďakujem dík díky
  dzięki dziękuję dzień dobra dobranoc dobre dobré dobrej dobro dobrou dobry dobrý dobře dobrze do dnia dokładnie
  doskonale fajnie hej hezký i idealnie ja já jak jasne jasně jest jestem je ješte ještě jsem jsi jutra kluk klid
  krásny krásný leitě líto mam mám máš masz mi miłego miły milý mnie mně moc moment na nashledanou nara nie nic není ne
  nema nemáš niestety noc o od ok okej omlouvám oczywiście pa pardon pewnie pomoc pomoci poczekaj pozdrawiam pozdravy
  prawda přesně prepáč prepáčte prima problem problému problém proszę prosím przepraszam ráno rano razie rozumiem
  rozumím samé się siema skvělé skvele spoko super świetnie szkoda tak také też to trzymaj ty určitě v vám vďaka večer
  víkend vidzenia w wam weekend wieczór wieczoru wielkie witaj witam wszystko wzajemnie z za zatím zdar zdravím
  zobaczenia`,
  // Turkish
  `aferin akşamlar allaha anladım aynen bir bol bravo bu canım çok da de değil doğru ederim efendim elbette ellerine
  emin et evet eyvallah geceler gibi gör görüşmek görüşürüz gün günaydın günler güle güzel haha haklısın harika hafta
  hayır hoş hoşça hoşçakal iyi iyiyim için kal kalın kolay kusura bakma merhaba memnun mükemmel muhteşem nasıl nasılsın
  ne o oldu oldum olsun pardon peki rica sabahlar sağ sağlık sağol selam selamlar sen sonu sonra süper şans tabii tabi
  tamam tamamdır tanıştığımıza tatlı tebrikler tekrar teşekkür teşekkürler uykular üzere üzgünüm var ve yarın yardım
  yardımın için`,
  // Russian and Ukrainian
  `а ага ах благодарю большое большой бувай вам вас вечер вечера вечір взаимно вот всё все всего выходных где да до
  добрий добридень доброе доброго доброї добрый дуже дякую день дня завтра здорово здравствуй здравствуйте извини
  извините интересно и именно как класс классно конечно круто ладно лучше меня минутку мне молодец на не нет ничего но
  ночи ну о ой ок окей отлично очень пока помощь понял поняла понятно понимаю пожалуйста поздравляю порядке правда
  прекрасно привет привіт прости простите проблем ранку рад рада рік с сегодня сейчас скоро смешно согласен согласна
  спасибо спасибі спокойной супер так там тебе тебя то тоже точно ты удачи у ура утра утро утречко хай хорошего хорошей
  хороших хорошо целую чудесно это я`,
  // Greek
  `αντίο αύριο βέβαια βράδυ γεια για δεν έγινε είμαι είναι εντάξει εσύ ευχαριστώ ευχαριστούμε η ημέρα θα και καλά καλή
  καλημέρα καληνύχτα καλησπέρα καλό κανένα λοιπόν λυπάμαι με μέρα μια μπράβο να ναι νύχτα ξανά οκ όλα όχι παρακαλώ πολύ
  πρόβλημα σας σε σου συγγνώμη συγχαρητήρια σωστά τα τέλεια τη την τι το τώρα υπέροχα φυσικά χαίρετε χάρηκα ωραία`,
  // Arabic
  `آسف أهلا أنا إلى السلام الف الله الخير النور اللقاء اليوم باي بخير بك تصبح تمام جدا جزيلا جميل حسنا خير رائع سلام
  شكرا صباح صح صحيح طيب عظيم عفوا على عليكم غدا فضلك فهمت في كثيرا كيف لا لك لكم مبروك مرحبا مساء مشكلة مع ممتاز من
  موافق ماشي نعم هذا و وداعا ورحمة وسهلا وعليكم يا`,
  // Hebrew
  `או אוקיי אוקי אין אני אתה את ביי בבקשה בוקר בעיה בסדר ברור גם היי הבנתי הכל הרבה חבל טוב טובה יופי יום כל כן לא לילה
  להתראות מאוד מה מושלם מחר מצוין מעולה מצטער מצטערת נהדר נכון סבבה סליחה ערב צהריים רבה רגע שבת שבוע שלום תודה`,
  // Hindi
  `अच्छा अलविदा आप आपका आपको और का की के कल कैसे को क्षमा खूब जी ठीक दिन धन्यवाद नमस्कार नमस्ते नहीं प्रणाम फिर बढ़िया
  बहुत बात बिल्कुल माफ़ माफ कीजिए करें मिलते में मैं यह रात रात्रि शुक्रिया शुभ समझ गया गई सही सुप्रभात हाँ है हैं हूँ
  हो`,
  // Vietnamese
  `à ạ anh bạn biết buổi cảm chào chắc chúc chưa có của được đã em gặp gì giờ hẹn hiểu hôm không khỏe lại lắm lỗi mai
  mình nay ngon ngủ nhé nhiều ổn ok ơn rất rồi sáng tạm tốt trưa tối tuyệt và vâng vấn đề vẫn vời vui xin`,
  // Indonesian and Malay
  `ada anda apa aku bagus baik baiklah banyak benar besok betul bisa boleh cukup deh dulu hai halo hari hebat haha ini
  iya jumpa juga kabar kamu kasih keren kembali lagi maaf malam mantap masalah mengerti nanti nggak oke ok paham pagi
  sama sampai sangat saya sekali selamat semoga senang setuju siang sip siap sudah terima tidak tidur tentu wkwk ya
  yang`,
].map((words) => new Set(folded(words).split(/\s+/)));

/** The same of scripts that put no spaces between words. */
export const UNSPACED_PLEASANTRIES = new RegExp(
  folded(
    `(?:${[
      // Japanese
      "ありがとう(?:ございま(?:す|した))?|どうも|おはよう(?:ございます)?|こんにちは|こんばんは|おやすみ(?:なさい)?|さようなら|また(?:ね|明日|あとで)?|バイバイ|じゃあ?ね?|お疲れ(?:様|さま)(?:です|でした)?|了解(?:です|しました)?|承知(?:しました|いたしました)?|(?:分|わ)かりました|(?:分|わ)かった|はい|いいえ|うん|ええ|そう(?:です|だ)?(?:ね|か)?|なるほど|すごい|素晴らしい|すばらしい|最高|いい(?:ね|です)?|大丈夫(?:です)?|問題(?:ない|ありません)|すみません|ごめん(?:なさい|ね)?|申し訳ありません|お願い(?:します)?|よろしく|助かり(?:ます|ました)|助かった|嬉しい|うれしい|楽しい|面白い|お?元気(?:です)?か?|もちろん|もしもし|ちょっと|待って(?:ください)?|続けて(?:ください)?|本当に?|とても|です|ます|ね|よ|か|わ|笑",
      // Chinese
      "谢谢|多谢|感谢|謝謝|非常|十分|早上好|早安|上午好|中午好|下午好|晚上好|晚安|你们?好|您好|大家好|嗨|哈喽|再见|再見|拜拜|回头见|明天见|下次见|待会儿?见|欢迎|好|行|可以|没问题|沒問題|没关系|没什么|没事|不客气|不用谢|对不起|抱歉|不好意思|是的?|对|嗯+|哦+|啊+|呀|吧|呢|吗|嘛|啦|了|的|明白|知道|懂|收到|太|棒|厉害|不错|很|真|有意思|有趣|开心|高兴|哈+|呵+|嘿+|嘻+|辛苦|加油|恭喜|祝|周末|愉快|快乐|好运|请|继续|等一?下|稍等|当然|算了|随便|你|您|我|也|都|还|挺|最近|一样|见到|认识|如何|怎么样|今天",
      // Korean
      "감사(?:합니다|해요|드립니다|드려요)?|고마(?:워요?|웠어요?)|고맙습니다|안녕(?:하세요|히|하십니까)?|계세요|가세요|주무세요|잘|자요?|내일|봐요?|봬요|또|네|넵|예|응|아니(?:요|에요|야)?|괜찮(?:아요?|습니다)|알겠(?:습니다|어요)|알았어요?|좋(?:아요?|습니다|네요)|그래요?|그렇(?:군요|네요|구나)|맞(?:아요?|습니다)|죄송(?:합니다|해요)|미안(?:해요?|합니다)|정말|진짜|대박|최고(?:예요|야)?|멋(?:져요?|지네요)|재미있(?:어요?|네요)|재밌(?:어요?|네요)|수고(?:하셨습니다|하세요|했어요?)|좋은|하루|주말|아침|밤|저녁|되세요|보내세요|화이팅|파이팅|축하(?:해요?|합니다|드려요)|물론(?:이죠)?|잠(?:깐만?|시만)요?|계속(?:해요?|하세요)?|너무|아주|오|와|아|음|헐|요|ㅋ+|ㅎ+|ㅠ+|ㅜ+|ㅇㅇ|ㄴㄴ",
      // Thai
      "ขอบคุณ|ขอบใจ|สวัสดี|หวัดดี|ลาก่อน|บาย|ราตรีสวัสดิ์|อรุณสวัสดิ์|ฝันดี|ขอโทษ|โทษที|ไม่เป็นไร|ได้|โอเค|ตกลง|ใช่|ไม่|เข้าใจ|แล้ว|ดี|เยี่ยม|สุดยอด|มาก|จริง|เหรอ|เจอกัน|พรุ่งนี้|สบาย|ไหม|ครับ|คับ|ค่ะ|คะ|จ้า|นะ|เลย|ๆ",
    ].join("|")})`,
  ),
  "gu",
);
