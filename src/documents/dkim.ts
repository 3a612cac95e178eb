import type { DkimAnswer } from '../answers/questions.ts'
import { type Block, code, codes, conclude, type Document, facts, heading } from './block.ts'
import { findingBlock } from './check/findings.ts'
import { documentOf, STATUS_MARKS, statusWord } from './words.ts'

/** One DKIM key: whether it verifies mail, the findings and repairs, and its record. */
export function dkimDocument(answer: DkimAnswer, version: string): Document {
  const { domain, selector, name, status, records, findings } = answer
  return documentOf(
    `DKIM: ${selector} of ${domain}`,
    version,
    conclude(name, STATUS_MARKS[status], statusWord(status, findings), wordsOf(answer)),
    findings.length > 0 && heading(2, 'What was found', 'findings'),
    findings.map((one) => findingBlock(one, { level: 3 })),
    heading(2, 'The key', 'evidence'),
    records.map(
      (text, i): Block => ({ kind: 'seen', label: records.length === 1 ? 'Record' : `Record ${i + 1}`, text }),
    ),
    factsOf(answer),
  )
}

function wordsOf({ status, valid, revoked, reason, records, problem }: DkimAnswer): string {
  if (status === 'unknown') return `The key could not be looked up: ${reason ?? 'no reason was given'}.`
  if (records.length === 0) return 'There is no key under this selector.'
  if (revoked) return 'The key is revoked: no mail verifies with it.'
  if (status === 'not_applicable') return 'The key is for TLS reports alone (s=tlsrpt), not for mail.'
  if (valid) return 'The key can verify mail of the domain.'
  return `The record is not a usable key${problem === undefined ? '' : `: ${problem}`}.`
}

const factsOf = ({ key_type, key_bits, testing, services, hashes, cname }: DkimAnswer): Block | undefined =>
  facts(
    key_type !== '' && ['Key', `${key_type.toUpperCase()}${key_bits === null ? '' : ` ${key_bits} bits`}`],
    testing && ['Test mode', 'yes (t=y)'],
    services.length > 0 && ['Services', codes(services)],
    hashes.length > 0 && ['Hashes', codes(hashes)],
    cname.length > 0 && ['Alias of', code(cname.at(-1)!)],
  )
