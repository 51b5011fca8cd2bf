/** The ways to count tokens: four characters each, or the encoding of OpenAI's models since GPT-4o. */
export const tokenizers = ["characters", "o200k_base"] as const;
export type TokenizerName = (typeof tokenizers)[number];

/** The tokens of a text; a fraction where they are estimated. */
export type CountTokens = (text: string) => number;

const CHARACTERS_PER_TOKEN = 4;

/** Estimates four characters a token. */
export const estimateTokens: CountTokens = (text) => text.length / CHARACTERS_PER_TOKEN;
