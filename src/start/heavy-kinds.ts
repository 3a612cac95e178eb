import type { AnyKind } from '../lane/serve.ts'
import { notice } from '../message/bounce.ts'
import { form } from '../message/form.ts'
import { outline } from '../message/outline.ts'
import { causes, verify } from '../message/verify.ts'
import { envelope } from '../reports/envelope.ts'
import { readFiles, readMail } from '../reports/parse/reading.ts'

/** All work of the lane, one line each. */
export const KINDS: readonly AnyKind[] = [
  ...[form, outline, verify, causes, notice], // messages
  ...[readFiles, readMail, envelope], // reports
]
