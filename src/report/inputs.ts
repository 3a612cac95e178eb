import type { JudgedChecks } from '../checks/run.ts'
import { fromDkim } from './dkim-input.ts'
import { points, type Score, scoreWithin } from './score.ts'
import { fromDmarc, fromMx, fromPtr, fromSpf } from './score-inputs.ts'
import type { ScoreInputs } from './score-types.ts'

/** What the score needs of all checks. */
export const scoreInputs = ({ context, outcomes }: Pick<JudgedChecks, 'context' | 'outcomes'>): ScoreInputs => ({
  role: context.role,
  spf: fromSpf(outcomes.spf),
  dkim: fromDkim(outcomes.dkim),
  dmarc: fromDmarc(outcomes.dmarc),
  mx: fromMx(outcomes.mx, context),
  ptr: fromPtr(outcomes.ptr),
})

/** The score of a domain as all checks judge it, with the range of all roles that it may have. */
export const scoreOf = (judged: JudgedChecks): Score =>
  scoreWithin((judged.readings ?? [judged]).map((reading) => scoreInputs(reading)))

/** The number of {@link scoreOf} alone. */
export const pointsOf = (judged: JudgedChecks): number => points(scoreInputs(judged.readings?.[0] ?? judged))
