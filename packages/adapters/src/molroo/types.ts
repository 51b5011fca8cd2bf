// The types of the `MemoryAdapter` of `@molroo-io/sdk`, declared structurally: users of the adapter have the SDK.

/** Valence, arousal and dominance. */
export type VAD = { V: number; A: number; D: number };

export type AppraisalVector = {
  goal_relevance: number;
  goal_congruence: number;
  expectedness: number;
  controllability: number;
  agency: number;
  norm_compatibility: number;
  internal_standards: number;
  adjustment_potential: number;
  urgency: number;
};

export type Episode = {
  id: string;
  type?: string;
  content?: string;
  context?: string;
  sourceEntity?: string;
  appraisal?: AppraisalVector;
  intensity?: number;
  /** 0 to 1. */
  importance: number;
  /** Milliseconds since the epoch. */
  timestamp: number;
  emotionSnapshot: VAD;
};

export type Reflection = {
  id: string;
  /** Milliseconds since the epoch. */
  timestamp: number;
  sourceEntity?: string;
  content: string;
  trigger: string;
  emotionSnapshot: VAD;
};

/** A filter for episodes: all given conditions must hold. Ranges include both ends. */
export type RecallQuery = {
  sourceEntity?: string;
  /** A text in the episode's context; ignores the case of A to Z. */
  context?: string;
  /** The most episodes; all if 0 or not set. */
  limit?: number;
  minImportance?: number;
  timeRange?: [from: number, to: number];
  type?: string | string[];
  valenceRange?: [min: number, max: number];
};

export type SemanticRecallOptions = {
  /** 5 unless set, 100 at most. */
  topK?: number;
  /** The least score of Cairn, 0 to 1. */
  minScore?: number;
  minImportance?: number;
};

/** The interface that the SDK calls. */
export type MemoryAdapter = {
  saveEpisode(episode: Episode): Promise<void>;
  recall(query: RecallQuery): Promise<Episode[]>;
  semanticRecall?(query: string, options?: SemanticRecallOptions): Promise<Episode[]>;
  saveReflection?(reflection: Reflection): Promise<void>;
  getReflections?(sourceEntity?: string): Promise<Reflection[]>;
  getByIds?(ids: string[]): Promise<Episode[]>;
};
