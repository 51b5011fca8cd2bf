import type { LanguageWords } from "./words.ts";

/** No ingest reads this language. */
export const he: Pick<LanguageWords, "pleasantries"> = {
  pleasantries:
    "או, אוקיי, אוקי, אין, אני, אתה, את, ביי, בבקשה, בוקר, בעיה, בסדר, ברור, גם, היי, הבנתי, הכל, הרבה, חבל, טוב, טובה, יופי, יום, כל, כן, לא, לילה, להתראות, מאוד, מה, מושלם, מחר, מצוין, מעולה, מצטער, מצטערת, נהדר, נכון, סבבה, סליחה, ערב, צהריים, רבה, רגע, שבת, שבוע, שלום, תודה",
};
