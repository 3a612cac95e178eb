import type { AnyKind } from '../lane/serve.ts'
import { outline } from '../message/outline.ts'
import { causes, verify } from '../message/verify.ts'
import { envelope } from '../reports/envelope.ts'
import { readFiles, readMail } from '../reports/parse/reading.ts'

/** All work of the lane, one line each. */
export const KINDS: readonly AnyKind[] = [
  ...[outline, verify, causes], // messages
  ...[readFiles, readMail, envelope], // reports
]
