import type { Line } from './block.ts'
import { inWords } from './timeline.ts'

/** The end of a document: when it was observed, and the versions that made it. */
export const footerOf = (version: string, observedAt?: string, ...more: readonly string[]): Line[] => [
  ...(observedAt === undefined ? [] : [[`Observed ${inWords(observedAt)}.`]]),
  [[`mailsonde ${version}`, ...more].join(' · ')],
]
