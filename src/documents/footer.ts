import type { Line } from './block.ts'

/** The end of a document: the time of the observation, and the versions that produced it. */
export const footerOf = (version: string, observedAt?: string, ...more: readonly string[]): Line[] => [
  ...(observedAt === undefined ? [] : [['Observed ', { time: observedAt }, '.']]),
  [[`mailsonde ${version}`, ...more].join(' · ')],
]
