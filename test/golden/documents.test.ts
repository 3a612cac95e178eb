import { describe, expect, it } from 'vitest'
import { htmlBody } from '../../src/documents/html/html.ts'
import { formatMarkdown } from '../../src/documents/markdown/markdown.ts'
import { formatTerminal } from '../../src/documents/terminal/terminal.ts'
import { labDocuments } from '../lab/documents.ts'

const all = await labDocuments()

/**
 * What people read of each answer, in each form: what a change does to it shows in the difference. `npm run golden`
 * writes them anew.
 */
describe.each([
  'blacklist',
  'blacklist-bulk',
  'blacklist-listed',
  'blacklists-some',
  'check',
  'check-many-lookups',
  'config',
  'dkim',
  'dmarc',
  'dmarc-walked',
  'doctor',
  'domain-blacklist',
  'expect',
  'geo',
  'health',
  'history',
  'jobs-bad-rows',
  'jobs-list',
  'jobs-results',
  'jobs-show',
  'keys',
  'message',
  'message-received',
  'monitors-list',
  'peer-heartbeat',
  'peer-register',
  'peers',
  'pictures',
  'pool',
  'ready',
  'report',
  'spf',
  'verify',
  'verify-failed-over',
  'what-if',
])('%s', (name) => {
  const document = all[name]!
  it.each<[ending: string, text: string]>([
    ['html.txt', htmlBody(document)],
    ['md', formatMarkdown(document)],
    ['txt', formatTerminal(document, { width: 80, colour: false, unicode: true })],
  ])('as %s', (ending, text) => expect(`${text.trimEnd()}\n`).toMatchFileSnapshot(`documents/${name}.${ending}`))
})
