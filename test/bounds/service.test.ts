import { linesOf, textOf } from '../../src/client/client.ts'
import { readList } from '../../src/jobs/intake/intake.ts'
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
])
