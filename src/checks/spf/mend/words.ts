import type { Problem } from '../../../base/problem.ts'
import type { Mended } from './mend.ts'
import { spfSlip } from './problems.ts'

/** The typing errors of a text, as parts of a sentence. */
export const slipsIn = ({ slips }: Mended): readonly Problem[] => slips.map((slip) => spfSlip(slip))
