import type { JsonRecord } from '../../base/json.ts'
import { type Block, quiet, text } from '../block.ts'
import { fieldBlocks, labelOf } from '../plain.ts'
import { wordsFor } from '../words.ts'
import type { Answer } from './answer.ts'
import { dmarcBlocks } from './dmarc.ts'
import { findingBlock } from './findings.ts'
import { hostBlocks } from './hosts.ts'
import { keyBlocks } from './keys.ts'
import { spfBlocks } from './spf.ts'
import { type Section, sectionsOf } from './status.ts'

/** One section for each check: status, what is published, what was found. */
export const checkBlocks = (answer: Answer): readonly Block[] =>
  sectionsOf(answer).map((section) => sectionBlock(answer, section))

function sectionBlock(answer: Answer, { key, name, purpose, status, reason, fields }: Section): Block {
  const findings = answer.findings.filter(({ id }) => id.startsWith(`${key}.`))
  return {
    kind: 'group',
    look: 'check',
    blocks: [
      { kind: 'heading', level: 3, id: key, line: [name, ' ', { status }] },
      ...(purpose === '' ? [] : [quiet(purpose)]),
      ...(reason === undefined ? [] : [text({ strong: 'Reason: ' }, reason)]),
      ...evidence(answer, key, fields),
      ...findings.map((one) => findingBlock(one)),
    ],
  }
}

function evidence(answer: Answer, key: string, fields: JsonRecord = {}): readonly Block[] {
  if (key === 'mx') return hostBlocks(answer)
  if (key === 'spf') return spfBlocks(answer.spf, answer.domain)
  if (key === 'dmarc') return dmarcBlocks(answer.dmarc)
  return key === 'dkim' ? keyBlocks(answer.dkim) : factBlocks(fields)
}

/** Fields that are told elsewhere: as the heading, the record or the reason. */
const TOLD = new Set(['status', 'reason', 'record', 'records', 'valid'])

function factBlocks(fields: JsonRecord): Block[] {
  const records = recordsOf(fields)
  return [
    ...records.map(
      (record, i): Block => ({
        kind: 'seen',
        label: records.length === 1 ? 'Record' : `Record ${i + 1} of ${records.length}`,
        text: record,
      }),
    ),
    ...fieldBlocks(fields, (name) => !TOLD.has(name), label),
  ]
}

const recordsOf = ({ record, records }: JsonRecord): string[] => {
  if (Array.isArray(records) && records.every((one) => typeof one === 'string')) return records
  return typeof record === 'string' ? [record] : []
}

const WORDS: Readonly<Record<string, string>> = {
  rua: 'Reports to (rua)',
  uri: 'Address',
  mx: 'MX',
  id: 'Id',
  ede: 'Extended errors',
  uncovered_mx: 'MX hosts the policy leaves out',
  cname: 'CNAME',
  ptr: 'PTR',
  max_age: 'Maximum age (s)',
  refresh: 'Refresh (s)',
  retry: 'Retry (s)',
  expire: 'Expire (s)',
  minimum: 'Minimum (s)',
  serial: 'Serial number',
  tcp: 'TCP',
  banner_name: 'Name in the greeting',
  ehlo_name: 'Name in EHLO',
  offered: 'STARTTLS',
  names: 'Names',
  name_matches: 'Name matches',
  forward_confirmed: 'Leads back',
  lame: 'Lame',
  differs: 'Differs in',
}
const label = (name: string): string => wordsFor(WORDS, name) ?? labelOf(name)
