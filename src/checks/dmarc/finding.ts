import { printable } from '../../base/text.ts'
import type { Args, DnsRecord, Finding } from '../check.ts'
import type { findings } from './findings.ts'

export type DmarcFindingId = keyof typeof findings

/** Characters of a record that is offered to be published; a longer one is not offered. */
const MAX_FIX = 2_048

/** A finding of this check; what is undefined is left out. */
export const finding = (
  id: DmarcFindingId,
  args: Args = {},
  more: { readonly evidence?: string | undefined; readonly fix?: DnsRecord | undefined } = {},
): Finding => ({
  id,
  args,
  ...(more.evidence === undefined ? {} : { evidence: printable(more.evidence) }),
  ...(more.fix === undefined || more.fix.value.length > MAX_FIX ? {} : { fix: more.fix }),
})
