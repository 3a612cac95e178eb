import type { AnyKind } from '../lane/serve.ts'
import { readFiles, readMail } from '../reports/parse/reading.ts'

/** All work of the lane, one line each. */
export const KINDS: readonly AnyKind[] = [readFiles, readMail]
