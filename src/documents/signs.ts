import type { Severity, Status } from '../answers/finding.ts'
import type { Mark } from './block.ts'

/** The sign of a mark, shown with its words. */
export const SIGNS: Readonly<Record<Mark, string>> = { good: '✓', warn: '!', bad: '✕', open: '?', busy: '…', none: '–' }

export const STATUS_MARKS: Readonly<Record<Status, Mark>> = {
  pass: 'good',
  warn: 'warn',
  fail: 'bad',
  unknown: 'open',
  not_applicable: 'none',
}

export const SEVERITY_MARKS: Readonly<Record<Severity, Mark>> = {
  critical: 'bad',
  high: 'bad',
  medium: 'warn',
  low: 'none',
  info: 'none',
}

/** The look of a score: the words beside it say the same. */
export const markOfScore = (score: number, isBroken = false): Mark =>
  score >= 80 && !isBroken ? 'good' : score >= 65 ? 'warn' : 'bad'

/** The share of the limit as a mark: over it is bad, from four fifths on a warning. */
export const markOfCost = (cost: number, limit: number): Mark =>
  cost > limit ? 'bad' : cost * 5 >= limit * 4 ? 'warn' : 'good'
