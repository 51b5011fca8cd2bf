import type { LanguageWords } from "./words.ts";

export const tr: LanguageWords = {
  common:
    "ve, bir, bu, da, de, için, çok, ben, ne, mi, ile, var, ama, benim, gibi, daha, en, olarak, kadar, sonra, bana, nasıl",
  self: "ben, biz, bana, beni, yaşıyorum, oturuyorum, çalışıyorum, *ıyorum, *iyorum, *uyorum, *üyorum, *yım, *yim",
  plural: "biz",
  whose: "benim, bizim",
  traits:
    "adım, ismim, doğum günüm, yaşım, e-postam, adresim, telefonum, işim, mesleğim, en sevdiğim, ana dilim, boyum, alerjim",
  you: "sen, sana, seni, senin, siz, size, sizin",
  others:
    "o, onlar, onun, onların, arkadaş*, patron*, meslektaş*, komşu*, kardeş*, abim, ablam, anne*, baba*, oğlum, kızım, eşim, karım, kocam, amca*, teyze*, dede*, insanlar, biri, birisi",
  third: "yaşıyor, oturuyor, çalışıyor, seviyor, *ıyor, *iyor, *uyor, *üyor",
  asks: "kim, ne, ne zaman, nerede, neden, niye, nasıl, hangi, kaç, mı, mi, mu, mü, mıyım, miyim, muyum",
  denies:
    "değil*, yok, hiç, asla, hayır, ne de, olmadan, bıraktım, eskiden, eski, nefret, artık değil, *mıyorum, *miyorum, *muyorum, *müyorum, *madım, *medim, yemem, içmem, sevmem",
  now: "artık, şimdi, bugün, şu anda, aslında",
  past: "*ıyordum, *iyordum, *uyordum, *üyordum, yaşadım, oturdum, çalıştım, eskiden, o zamanlar, bir zamanlar",
  turns: "ama, fakat, ancak, ise",
  causes: "çünkü",
  joins: "ve",
  supposes:
    "eğer, diyelim, varsayalım, farz, belki, keşke, olsaydı*, isterdim, istiyorum, umarım, galiba, acaba, düşünüyorum, planlıyorum, *saydım, *seydim, rüya*",
  reports:
    "diyor, dedi, diyorlar, söylüyor, söyledi, göre, güya, sözde, iddia*, sanıyor, söylenti, yazmış, yazdı, *mışım, *mişim, duydum, *muşum, *müşüm",
  scenes:
    "hayal et, farzet, rol yap*, rol oyunu, senaryo, roman*, hikaye*, öykü*, karakter*, sen bir, kurgusal, şiir*, şarkı*, bölüm, monolog, canlandır*, sen benim, oyun oynayalım",
  ends: "bana dönelim, gerçek hayatta, oyun bitti, oyunun sonu, başka konu, yeni konu",
  hands: "çevir*, tercüme, düzelt, yeniden yaz, özetle, kısalt, devam et, tamamla, cümleleri",
  texts:
    "mektup, metin, metni, cümle*, mail, e-posta, mesaj*, makale, yorum, şiir, konuşma, alıntı, aşağıdaki, şu, ilan, tabela, paragraf",
  frames: "bu arada, not, bilgi, bağlam, unutma, düzeltme, ayrıntılar, durum, özetle, önemliyse",
  undoes:
    "şaka*, şaka yapıyorum, aslında hayır, doğru değil, yalan*, unut, demek istedim, yanlış*, bu o, yukarıdaki, çevir*, yok dur, dur hayır, ne diyorum, yanıldım, karıştırdım, 1 nisan",
  points: "o, bu, demek istedim",
  orders:
    "hatırla, kaydet, görmezden gel, yok say, değiştir, unut, sil, bundan sonra, bundan böyle, şu andan itibaren",
  memory: "hafızan*, belleğin*, talimat*, yönetici onay*, onayladı*, izin ver*",
  roles: "kullanıcı, kullanıcının, kullanıcıya, kullanıcıyı, asistan, asistanın",
  secrets: "şifre, şifrem, şifresi, parola, parolam, kredi kartı*, kart numara*, hesap numara*",
  forms: ["deniesLast", "declinesNames"],
  pleasantries:
    "aferin, akşamlar, allaha, anladım, aynen, bir, bol, bravo, bu, canım, çok, da, de, değil, doğru, ederim, efendim, elbette, ellerine, emin, et, evet, eyvallah, geceler, gibi, gör, görüşmek, görüşürüz, gün, günaydın, günler, güle, güzel, haha, haklısın, harika, hafta, hayır, hoş, hoşça, hoşçakal, iyi, iyiyim, için, kal, kalın, kolay, kusura, bakma, merhaba, memnun, mükemmel, muhteşem, nasıl, nasılsın, ne, o, oldu, oldum, olsun, pardon, peki, rica, sabahlar, sağ, sağlık, sağol, selam, selamlar, sen, sonu, sonra, süper, şans, tabii, tabi, tamam, tamamdır, tanıştığımıza, tatlı, tebrikler, tekrar, teşekkür, teşekkürler, uykular, üzere, üzgünüm, var, ve, yarın, yardım, yardımın",
};
