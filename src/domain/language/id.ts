import type { LanguageWords } from "./words.ts";

export const id: LanguageWords = {
  common:
    "yang, dan, di, ini, itu, saya, aku, untuk, dengan, tidak, ke, dari, ada, apa, bisa, sudah, juga, karena, adalah, kami, mau, dia, sekali",
  self: "saya, aku, kami, kita, gue, gua",
  plural: "kami, kita",
  whose: "",
  traits:
    "nama, ulang tahun, umur, usia, email, alamat, telepon, pekerjaan, profesi, favorit, kesukaan, bahasa ibu, tinggi, alergi, hobi",
  you: "kamu, anda, kau, kalian, lu",
  others:
    "dia, ia, mereka, teman*, sahabat*, bos, rekan, tetangga, kakak, adik, saudara, ibu, ayah, bapak, anak, istri, suami, paman, bibi, nenek, kakek, orang, seseorang, pacar",
  third: "",
  asks: "siapa, apa, kapan, di mana, dimana, kenapa, mengapa, bagaimana, berapa, apakah, bisakah, mana",
  denies: "tidak, bukan, tak, nggak, gak, belum, jangan, tanpa, tidak pernah, berhenti, dulu, mantan, benci",
  now: "lagi, sekarang, kini, hari ini, sebenarnya",
  past: "dulu, dahulu, pernah, waktu itu, dulunya, sebelumnya",
  turns: "tapi, tetapi, namun",
  causes: "karena, jadi",
  never: "tidak pernah, sama sekali",
  relates: "yang",
  since: "sejak",
  excepts: "kecuali saya, kecuali aku",
  joins: "dan",
  supposes:
    "jika, kalau, misalkan, misalnya, anggap, seandainya, andai, mungkin, semoga, ingin, mau, berharap, berencana, rencana, barangkali, pengen, kepikiran, ragu, hampir, berpikir untuk, mimpi, bermimpi",
  reports:
    "kata, katanya, bilang, berkata, menurut, konon, mengaku, mengklaim, percaya, kabarnya, rumor, gosip, menulis, dengar",
  scenes:
    "bayangkan, pura-pura, bermain peran, skenario, novel, cerita, cerpen, tokoh, karakter, kamu adalah, fiksi, puisi, lagu, bab, monolog, naskah, dialog, kamu jadi",
  ends: "kembali ke saya, di dunia nyata, permainan selesai, akhir permainan, topik lain, topik baru",
  hands: "terjemah*, perbaiki, koreksi, tulis ulang, ringkas, rangkum, persingkat, lanjutkan, lengkapi",
  texts:
    "surat, teks, kalimat, email, pesan, artikel, ulasan, puisi, pidato, kutipan, berikut, iklan, papan, paragraf",
  frames:
    "omong-omong, info, catatan, konteks, jangan lupa, koreksi, fakta, rincian, situasi, singkatnya, kalau membantu",
  undoes:
    "bercanda, canda, nggak kok, tidak benar, bohong, lupakan, maksudku, maksud saya, salah, itu tadi, di atas, terjemah*, eh bukan, eh tunggu, salah ketik, salah sebut, ngomong apa, april mop, ralat",
  points: "itu, maksudku",
  orders:
    "ingat bahwa, simpan, catat, abaikan, ganti, timpa, lupakan, hapus, mulai sekarang, mulai saat ini, kamu harus, tambahkan",
  memory: "ingatanmu, memorimu, instruksi, administrator, mengizinkan, persetujuan",
  roles: "pengguna, asisten ai",
  secrets: "kata sandi, sandi saya, nomor kartu, nomor rekening, kartu kredit",
  pleasantries:
    "ada, anda, apa, aku, bagus, baik, baiklah, banyak, benar, besok, betul, bisa, boleh, cukup, deh, dulu, hai, halo, hari, hebat, haha, ini, iya, jumpa, juga, kabar, kamu, kasih, keren, kembali, lagi, maaf, malam, mantap, masalah, mengerti, nanti, nggak, oke, ok, paham, pagi, sama, sampai, sangat, saya, sekali, selamat, semoga, senang, setuju, siang, sip, siap, sudah, terima, tidak, tidur, tentu, wkwk, ya, yang",
};
