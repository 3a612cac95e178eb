import { type MakeFinding, makeFinding } from '../finding.ts'
import type { findings } from './findings.ts'

export type DmarcFindingId = keyof typeof findings

/** A finding of this check. */
export const finding: MakeFinding<typeof findings> = makeFinding
