import { linesOf, textOf } from '../../src/client/client.ts'
import { inlines } from '../../src/documents/html/inline.ts'
import { escapeMarkdown } from '../../src/documents/markdown/markdown.ts'
import { preferredForm } from '../../src/http/handle.ts'
import { readList } from '../../src/jobs/intake/intake.ts'
import { parseEmail } from '../../src/names/email.ts'
import { readSelectors } from '../../src/operations/params.ts'
import { html } from '../../src/pages/html.ts'
import { parseOrigin } from '../../src/peers/record.ts'
import { isRead, testBounds, text, times } from './table.ts'

const body = (size: number): Response =>
  new Response(
    new ReadableStream({
      start: (stream) => {
        for (let left = size; left > 0; left -= 1 << 20)
          stream.enqueue(new Uint8Array(Math.min(left, 1 << 20)).fill(120))
        stream.close()
      },
    }),
  )
async function drained(all: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of all);
}
async function rows(list: string, contentType: string): Promise<readonly boolean[]> {
  const good = []
  async function* octets() {
    yield Buffer.from(list)
  }
  for await (const row of readList(octets(), { kind: 'verify', contentType, bounds: { maxUpload: 1 << 28 } }))
    good.push(row.ok)
  return good
}
const isListRead = (list: string, contentType: string): Promise<boolean> =>
  rows(list, contentType).then(
    (good) => good.every(Boolean),
    () => false,
  )

testBounds([
  [
    'src/client/client.ts MAX_TEXT',
    16 * 1024 * 1024,
    async (n) => (await isRead(textOf(body(n)))) && isRead(drained(linesOf(body(n)))),
  ],
  ['src/documents/html/inline.ts MAX_TEXT', 8_192, (n) => inlines([text(n)]) === text(n)],
  ['src/documents/markdown/markdown.ts MAX_TEXT', 8_192, (n) => escapeMarkdown(text(n)) === text(n)],
  ['src/http/handle.ts MAX_LENGTH', 1_000, (n) => preferredForm('text/html'.padEnd(n)) !== undefined],
  [
    'src/http/handle.ts MAX_RANGES',
    30,
    (n) => preferredForm([...times(n - 1, () => 'x/y'), 'text/html'].join()) !== undefined,
  ],
  [
    'src/jobs/intake/csv.ts MAX_COLUMNS',
    1_000,
    (n) => isListRead(`email${times(n - 1, (i) => `,c${i}`).join('')}\na@b.example${','.repeat(n - 1)}\n`, 'text/csv'),
  ],
  [
    'src/jobs/intake/row.ts MAX_FIELD',
    64 * 1024,
    (n) => isListRead(`email,note\na@b.example,${text(n)}\n`, 'text/csv'),
  ],
  ['src/names/email.ts LONGEST_LOCAL', 64, (n) => parseEmail(`${text(n)}@b.example`).ok],
  ['src/names/email.ts LONGEST', 254, (n) => parseEmail(`a@${times(4, () => text(60)).join('.')}.${text(n - 246)}`).ok],
  ['src/operations/params.ts MAX_SELECTORS', 10, (n) => readSelectors(times(n, (i) => `s${i}`).join()).ok],
  ['src/pages/html.ts MAX_TEXT', 8_192, (n) => html`${text(n)}`.safe === text(n)],
  [
    'src/peers/record.ts MAX_URL',
    256,
    (n) => parseOrigin(`https://${times(3, () => text(60)).join('.')}.${text(n - 191)}`).ok,
  ],
])
