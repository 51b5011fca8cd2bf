// The types of `@molroo-io/sdk` that its `MemoryAdapter` speaks in, written structurally: who uses the adapter has the SDK.

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

/** Which episodes are meant: all that is given must fit. Ranges include both ends. */
export type RecallQuery = {
  sourceEntity?: string;
  /** A text that the episode's context holds; case of A to Z does not count. */
  context?: string;
  /** All unless set, or 0. */
  limit?: number;
  minImportance?: number;
  timeRange?: [from: number, to: number];
  type?: string | string[];
  valenceRange?: [min: number, max: number];
};

export type SemanticRecallOptions = {
  /** 5 unless set, 100 at most. */
  topK?: number;
  /** 0 to 1, of Cairn's scores. */
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
