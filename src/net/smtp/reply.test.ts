import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type ReplyEvent, replyReader, textOf } from './reply.ts'

const bytes = (text: string): Uint8Array => Buffer.from(text, 'latin1')
const read = (...chunks: readonly string[]): readonly ReplyEvent[] => {
  const reader = replyReader()
  return chunks.flatMap((chunk) => reader.feed(bytes(chunk)))
}

describe('the reply reader', () => {
  it.each([
    [['250 ok\r\n'], [{ code: 250, lines: ['ok'] }]],
    [['250\r\n'], [{ code: 250, lines: [''] }]], // no text: RFC 5321 §4.2 receivers must take it
    [['250 ok\n'], [{ code: 250, lines: ['ok'] }]], // a bare LF
    [['2', '50', '-a\r', '\n250 b\r\n'], [{ code: 250, lines: ['a', 'b'] }]], // cut anywhere
    [
      ['250 a\r\n550 5.1.1 b\r\n'], // two in one segment, RFC 2920
      [
        { code: 250, lines: ['a'] },
        { code: 550, enhanced: '5.1.1', lines: ['5.1.1 b'] },
      ],
    ],
    [['550-5.7.1 x\r\n550 5.1.1 y\r\n'], [{ code: 550, enhanced: '5.7.1', lines: ['5.7.1 x', '5.1.1 y'] }]],
    [['550-hello\r\n550 5.1.1 y\r\n'], [{ code: 550, enhanced: '5.1.1', lines: ['hello', '5.1.1 y'] }]],
    [['550 #5.1.0 Address rejected.\r\n'], [{ code: 550, enhanced: '5.1.0', lines: ['#5.1.0 Address rejected.'] }]],
    [['450 5.1.1 x\r\n'], [{ code: 450, lines: ['5.1.1 x'] }]], // another class: not its code
    [['550 5.1.1.1 x\r\n'], [{ code: 550, lines: ['5.1.1.1 x'] }]],
    [['250 a\0b\r\n'], [{ code: 250, lines: ['a\0b'] }]], // NUL is data
  ])('%j', (chunks, replies) => expect(read(...chunks)).toEqual(replies.map((reply) => ({ reply }))))

  it.each([
    [['HTTP/1.1 400 Bad Request\r\n'], 'not an SMTP reply: "HTTP/1.1 400 Bad Request'],
    [['SSH-2.0-x'], 'not an SMTP reply: "SSH-2.0-x"'], // known without a line end
    [['250-a\r\n550 b\r\n'], 'the code changed from 250 to 550 within one reply'],
    [['250-a\r\nhello\r\n'], 'not an SMTP reply: "hello"'],
    [['\r\n'], 'not an SMTP reply: ""'],
    [['150 x\r\n'], 'not an SMTP reply: "150 x"'], // RFC 5321 §4.2.1 has no 1yz
    [['2500 x\r\n'], 'not an SMTP reply: "2500 x"'],
    [['\0\0\0\0'], 'not an SMTP reply: "    "'],
    [['250-a\r\n'.repeat(20_000)], 'a reply longer than 64 KiB'],
    [['250 ', ...Array(100).fill('x'.repeat(1000))], 'a reply longer than 64 KiB'],
  ])('%j is a problem', (chunks, problem) =>
    expect(read(...chunks)).toEqual([{ problem: expect.objectContaining({ text: expect.stringContaining(problem) }) }]),
  )

  it('reads nothing after a problem', () => expect(read('hello\r\n250 ok\r\n')).toHaveLength(1))
  // Bound: src/net/smtp/reply.ts MAX_LINE, src/net/smtp/reply.ts MAX_LINES
  it('keeps 512 bytes of a line and 100 lines', () => {
    const [long] = read(`250 ${'x'.repeat(5000)}\r\n`)
    expect(long?.reply?.lines[0]).toHaveLength(508)
    const [many] = read(`${'250-a\r\n'.repeat(150)}250 b\r\n`)
    expect(many?.reply?.lines).toHaveLength(100)
  })
  it('reads UTF-8, and anything else as octets', () => {
    const [utf8] = replyReader().feed(Buffer.from('550 Почты нет\r\n'))
    const [latin] = read('550 gesch\xfctzt\r\n')
    expect([textOf(utf8!.reply!), textOf(latin!.reply!)]).toEqual(['Почты нет', 'geschützt'])
  })
  it('never throws, and reads the same however the bytes are cut', () => {
    const piece = fc.oneof(
      fc.uint8Array({ maxLength: 40 }),
      fc.constantFrom('250 ok\r\n', '250-a\r\n', '550 5.1.1 no\r\n', '\r\n', '2', '\0').map(bytes),
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 20 }), fc.integer({ min: 1, max: 9 }), (pieces, size) => {
        const all = Buffer.concat(pieces)
        const cut = replyReader()
        const events: ReplyEvent[] = []
        for (let at = 0; at < all.length; at += size) events.push(...cut.feed(all.subarray(at, at + size)))
        const whole = replyReader().feed(all)
        expect(events.map((event) => event.reply ?? 'problem')).toEqual(whole.map((event) => event.reply ?? 'problem'))
      }),
    )
  })
})
