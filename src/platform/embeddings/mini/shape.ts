/** The shape of mini-en-256. */
export const DIMENSIONS = 256;
export const FEED_FORWARD = 1024;
export const LAYERS = 2;
export const HEADS = 8;
/** The most pieces of one window. */
export const MOST_PIECES = 126;

/** The bytes of model.safetensors. */
export const FILE_BYTES = 8_942_008;
