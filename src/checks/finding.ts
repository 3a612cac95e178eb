import { printable } from '../base/text.ts'
import type { Args, DnsRecord, Finding, FindingTable } from './check.ts'

/** Maximum number of characters of a record that is offered for publication; a longer one is not offered. */
const MAX_FIX = 2_048

/** {@link makeFinding} for the ids of one check's table. */
export type MakeFinding<Table extends FindingTable> = (id: keyof Table & string, args?: Args, more?: More) => Finding
type More = { readonly evidence?: string | undefined; readonly fix?: DnsRecord | undefined }

/** A finding; undefined values are omitted, and evidence is cut to 512 printable characters. */
export const makeFinding = (id: string, args: Args = {}, { evidence, fix }: More = {}): Finding => ({
  id,
  args,
  ...(evidence === undefined ? {} : { evidence: printable(evidence) }),
  ...(fix === undefined || fix.value.length > MAX_FIX ? {} : { fix }),
})
