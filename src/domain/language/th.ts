import type { LanguageWords } from "./words.ts";

/** No ingest reads this language. */
export const th: Pick<LanguageWords, "pleasantries"> = {
  pleasantries:
    "ขอบคุณ, ขอบใจ, สวัสดี, หวัดดี, ลาก่อน, บาย, ราตรีสวัสดิ์, อรุณสวัสดิ์, ฝันดี, ขอโทษ, โทษที, ไม่เป็นไร, ได้, โอเค, ตกลง, ใช่, ไม่, เข้าใจ, แล้ว, ดี, เยี่ยม, สุดยอด, มาก, จริง, เหรอ, เจอกัน, พรุ่งนี้, สบาย, ไหม, ครับ, คับ, ค่ะ, คะ, จ้า, นะ, เลย, ๆ",
};
