import dnsPacket from 'dns-packet'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { dataOf, decodeMessage } from './decode.ts'
import { encodeQuery, type Query, type QueryFlags } from './encode.ts'
import { interpret } from './interpret.ts'
import { type RecordType, TYPE_CODES } from './resolver.ts'
import { readName, writeName } from './wire-name.ts'

const roundTrip = (name: string): string | undefined => {
  const bytes = Buffer.alloc(300)
  return writeName(name, bytes, 0) < 0 ? undefined : readName({ bytes, at: 0 })
}
/** The octets of a query, without those beside it in its buffer. */
function queryOf(name: string, type: number, flags: QueryFlags): Buffer {
  const query: Query = { bytes: Buffer.alloc(0), start: 0, questionEnd: 0, end: 0 }
  expect(encodeQuery(query, name, type, flags)).toBe(true)
  return query.bytes.subarray(query.start, query.end)
}
const label = (length: number): string => 'a'.repeat(length)

describe('names', () => {
  // Bound: src/net/dns/wire-name.ts MAX_OCTETS, src/net/dns/wire-name.ts MAX_LABEL
  it.each([
    ['', ''], // the root
    ['.', ''],
    ['A.Example.', 'a.example'], // RFC 4343 §3: case folds
    ['_dmarc.a.example', '_dmarc.a.example'],
    ['a\\.b.example', 'a\\.b.example'], // a dot inside a label, RFC 1035 §5.1
    ['a\\\\b.example', 'a\\\\b.example'],
    ['\\097\\000.example', 'a\\000.example'], // \DDD
    ['a b.example', 'a\\032b.example'],
    ['é.example', '\\195\\169.example'], // UTF-8 octets
    [`${label(63)}.example`, `${label(63)}.example`],
    [`${label(64)}.example`, undefined], // RFC 1035 §2.3.4
    [[63, 63, 63, 61].map(label).join('.'), [63, 63, 63, 61].map(label).join('.')], // 255 octets
    [[63, 63, 63, 62].map(label).join('.'), undefined], // 256
    ['a..b', undefined],
    ['.a', undefined],
    ['a..', undefined],
    ['a\\', undefined],
    ['a\\25', undefined],
    ['a\\256', undefined],
    ['é'.repeat(5_000), undefined],
  ])('%j is read back as %j', (name, shown) => expect(roundTrip(name)).toBe(shown))

  it.each([
    [[0xc0, 0], 0, 'to itself'],
    [[0xc0, 2, 0xc0, 0], 0, 'forward'],
    [[0xc0, 2, 0xc0, 0], 2, 'a circle'],
    [[1, 97, 0xc0, 0], 0, 'to its own beginning'],
    [[0xc0], 0, 'half a pointer'],
    [[5, 97], 0, 'over the end'],
    [[0x40, 0], 0, 'an unknown label type'],
    [[], 0, 'nothing'],
  ])('refuses a pointer %j at %i: %s', (octets, at) => {
    expect(readName({ bytes: Uint8Array.from(octets as number[]), at: at as number })).toBeUndefined()
  })

  it.each([
    [[0xc0, 12], 'known.example'],
    [[1, 12, 0], '\\012'], // a label, and no pointer
    [[0xc0, 2, 1, 97, 0], undefined], // forward
  ])('the name of the question stands for a pointer to it alone: %j', (octets, name) =>
    expect(readName({ bytes: Uint8Array.from(octets), at: 0 }, 'known.example')).toBe(name),
  )
  it('a pointer to another name is followed although the name of the question is known', () =>
    expect(readName({ bytes: Uint8Array.from([1, 97, 0, 0xc0, 0]), at: 3 }, 'known.example')).toBe('a'))

  it('refuses a name that pointers make longer than 255 octets', () => {
    const bytes = Buffer.alloc(600)
    let at = 0
    let before = -1
    for (let i = 0; i < 5; i++) {
      bytes[at] = 63
      bytes.fill(0x61, at + 1, at + 64)
      if (before < 0) bytes[at + 64] = 0
      else bytes.writeUInt16BE(0xc000 | before, at + 64)
      before = at
      at += 66
    }
    expect(readName({ bytes, at: 3 * 66 })).toBeUndefined()
    expect(readName({ bytes, at: 2 * 66 })).toHaveLength(3 * 64 - 1)
  })

  it('writes at most 255 octets whatever it is given, and reads back what it wrote', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 400 }), (name) => {
        const bytes = Buffer.alloc(400, 0xee)
        const end = writeName(name, bytes, 0)
        expect(bytes.subarray(255).every((octet) => octet === 0xee)).toBe(true)
        if (end < 0) return
        const cursor = { bytes, at: 0 }
        const read = readName(cursor)!
        expect(cursor.at).toBe(end)
        expect(roundTrip(read)).toBe(read)
      }),
      { numRuns: 500 },
    )
  })
})

describe('queries', () => {
  it.each([
    [{ recursion: true, checkingDisabled: false, edns: true }, 0x0120, 1],
    [{ recursion: true, checkingDisabled: true, edns: true }, 0x0130, 1], // CD, RFC 4035 §3.2.2
    [{ recursion: false, checkingDisabled: false, edns: false }, 0x0020, 0],
  ])('%j reads as one to dns-packet', (flags, bits, opts) => {
    const query = queryOf('mail.A.example', TYPE_CODES.MX, flags)
    expect(query.readUInt16BE(2)).toBe(bits)
    const message = dnsPacket.decode(query)
    expect(message.questions[0]).toMatchObject({ type: 'MX', class: 'IN' })
    expect(message.questions[0]!.name.toLowerCase()).toBe('mail.a.example')
    expect(message.additionals).toHaveLength(opts)
    if (opts === 1) expect(message.additionals[0]).toMatchObject({ type: 'OPT', udpPayloadSize: 1232 })
  })

  it('mixes the case of letters, differently each time', () => {
    const name = 'abcdefghijklmnopqrstuvwxyz.example'
    const seen = new Set(
      Array.from({ length: 20 }, () => {
        const query = queryOf(name, 1, { recursion: true, checkingDisabled: false, edns: false })
        return query.toString('latin1', 12)
      }),
    )
    expect(seen.size).toBe(20)
  })

  it('are not overwritten by later ones', () => {
    const flags = { recursion: true, checkingDisabled: false, edns: true }
    const queries = Array.from({ length: 3_000 }, (_, i) => queryOf(`n${i}.example`, 1, flags))
    const names = queries.map((bytes) => readName({ bytes, at: 12 }))
    expect(names).toEqual(queries.map((_, i) => `n${i}.example`))
  })
})

const name = fc
  .array(fc.stringMatching(/^[a-z0-9_-]{1,12}$/), { minLength: 1, maxLength: 4 })
  .map((labels) => labels.join('.'))
const octet = fc.integer({ min: 0, max: 255 })
const word = fc.integer({ min: 0, max: 0xffff })
const long = fc.integer({ min: 0, max: 0xffffffff })
const bytes = fc.uint8Array({ minLength: 1, maxLength: 64 }).map((octets) => Buffer.from(octets))
const hextets = fc.array(word, { minLength: 8, maxLength: 8 })
/** [type, the data as dns-packet writes it, the data as read here] */
const record = fc.oneof(
  fc.tuple(octet, octet, octet, octet).map((parts) => ['A', parts.join('.'), parts.join('.')] as const),
  name.map((target) => ['CNAME', target, target] as const),
  name.map((target) => ['NS', target, target] as const),
  name.map((target) => ['PTR', target, target] as const),
  fc.record({ preference: word, exchange: name }).map((data) => ['MX', data, data] as const),
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 60 }).map((text) => ['TXT', text, text] as const),
  fc
    .record({ mname: name, rname: name, serial: long, refresh: long, retry: long, expire: long, minimum: long })
    .map((data) => ['SOA', data, data] as const),
  fc
    .record({ usage: octet, selector: octet, matchingType: octet, bytes })
    .map(
      ({ bytes, ...rest }) =>
        ['TLSA', { ...rest, certificate: bytes }, { ...rest, data: bytes.toString('hex') }] as const,
    ),
  fc
    .record({ keyTag: word, algorithm: octet, digestType: octet, bytes })
    .map(
      ({ bytes, ...rest }) => ['DS', { ...rest, digest: bytes }, { ...rest, digest: bytes.toString('hex') }] as const,
    ),
  fc.record({ algorithm: octet, expiration: long, inception: long, signersName: name, signature: bytes }).map(
    ({ algorithm, expiration, inception, signersName, signature }) =>
      [
        'RRSIG',
        {
          typeCovered: 'MX',
          algorithm,
          labels: 2,
          originalTTL: 1,
          expiration,
          inception,
          keyTag: 1,
          signersName,
          signature,
        },
        { covered: 15, algorithm, expiresAt: expiration, validFrom: inception, signer: signersName },
      ] as const,
  ),
  hextets.map((parts) => ['AAAA', parts.map((part) => part.toString(16)).join(':'), undefined] as const),
)
const sections = fc.array(fc.tuple(name, fc.integer({ min: 0, max: 0x7fffffff }), record), { maxLength: 8 })

describe('messages', () => {
  it('read as dns-packet wrote them', () => {
    fc.assert(
      fc.property(name, sections, (asked, rows) => {
        const written = rows.map(([owner, ttl, [type, data]]) => ({ type, name: owner, ttl, data }))
        const packet = dnsPacket.encode({
          type: 'response',
          id: 7,
          questions: [{ type: 'A', name: asked }],
          answers: written,
        })
        const message = decodeMessage(packet)
        if (!message.ok) throw new Error(message.problem.text)
        expect(message.value.question).toEqual({ name: asked, type: 1, class: 1 })
        expect(message.value.answers.map(({ name, ttlSeconds }) => [name, ttlSeconds])).toEqual(
          rows.map(([owner, ttl]) => [owner, ttl]),
        )
        for (const [i, [, , [type, , expected]]] of rows.entries()) {
          const read = dataOf(message.value, message.value.answers[i]!, type as RecordType)
          if (expected !== undefined) expect(read).toEqual(expected)
          else expect(read).toBeDefined()
        }
      }),
      { numRuns: 300 },
    )
  })

  it('never throw, whatever the octets', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 600 }), (octets) => readAll(Buffer.from(octets))),
      { numRuns: 1_000 },
    )
  })

  it('never throw, whatever is changed in one that was good', () => {
    const change = fc.tuple(fc.nat(), octet)
    fc.assert(
      fc.property(name, sections, fc.array(change, { maxLength: 6 }), fc.nat(), (asked, rows, changes, cut) => {
        const answers = rows.map(([owner, ttl, [type, data]]) => ({ type, name: owner, ttl, data }))
        const packet = dnsPacket.encode({ type: 'response', id: 7, questions: [{ type: 'A', name: asked }], answers })
        for (const [at, value] of changes) packet[at % packet.length] = value
        readAll(packet.subarray(0, packet.length - (cut % 3 === 0 ? cut % packet.length : 0)))
      }),
      { numRuns: 1_000 },
    )
  })

  it('of 64 KiB made of pointers to pointers end soon', () => {
    const packet = Buffer.alloc(65_535)
    packet.writeUInt16BE(5_000, 6)
    for (let at = 14; at + 1 < packet.length; at += 2) packet.writeUInt16BE(0xc000 | Math.min(at - 2, 0x3fff), at)
    expect(decodeMessage(packet).ok).toBe(false)
  })

  it('keep records of types that are not known as octets (RFC 3597)', () => {
    const packet = dnsPacket.encode({
      type: 'response',
      questions: [{ type: 'A', name: 'a.example' }],
      answers: [{ type: 'UNKNOWN_4711', name: 'a.example', ttl: 1, data: Buffer.from('abc') }],
    })
    const message = decodeMessage(packet)
    if (!message.ok) throw new Error(message.problem.text)
    const { start, end } = message.value.answers[0]!
    expect(packet.subarray(start, end).toString()).toBe('abc')
  })

  it.each([
    ['no character-string', 'TXT', ''],
    ['a string over the end', 'TXT', '05616263'],
    ['three octets', 'A', 'c00002'],
    ['no exchange', 'MX', '000a'],
    ['octets after the name', 'NS', '016100ff'],
    ['no tag (RFC 8659 §4.1)', 'CAA', '0000'],
    ['a tag over the end', 'CAA', '0009697373'],
    ['too short', 'TLSA', '0301'],
    ['short numbers', 'SOA', '00000000'],
    ['no signer', 'RRSIG', '000f0d0200000001000000020000000100ff'],
    ['a salt over the end', 'NSEC3PARAM', '0100000a02ab'],
    ['octets after the salt', 'NSEC3PARAM', '0100000a01abcd'],
  ] as const)('have no data where there is %s in %s', (_, type, hex) => {
    const data = Buffer.from(hex, 'hex')
    const head = Buffer.from('000080000000000100000000', 'hex')
    const fixed = Buffer.alloc(11)
    fixed.writeUInt16BE(TYPE_CODES[type], 1)
    fixed.writeUInt16BE(1, 3)
    fixed.writeUInt16BE(data.length, 9)
    const message = decodeMessage(Buffer.concat([head, fixed, data]))
    if (!message.ok) throw new Error(message.problem.text)
    expect(dataOf(message.value, message.value.answers[0]!, type)).toBeUndefined()
  })

  it('read NSEC3 parameters (RFC 5155 §4.2)', () => {
    const data = Buffer.from('0100000a02abcd', 'hex')
    const fixed = Buffer.from([0, 0, TYPE_CODES.NSEC3PARAM, 0, 1, 0, 0, 0, 0, 0, data.length])
    const message = decodeMessage(Buffer.concat([Buffer.from('000080000000000100000000', 'hex'), fixed, data]))
    if (!message.ok) throw new Error(message.problem.text)
    expect(dataOf(message.value, message.value.answers[0]!, 'NSEC3PARAM')).toEqual({
      algorithm: 1,
      flags: 0,
      iterations: 10,
      salt: 'abcd',
    })
  })

  it.each<[(string | Buffer)[], string, string]>([
    [['v=spf1 ', '-all'], 'v=spf1 -all', 'joined without a space (RFC 7208 §3.3)'],
    [[''], '', 'an empty string is one'],
    [[Buffer.from([0xe9])], 'é', 'what is not UTF-8 is one character an octet'],
    [[Buffer.from([0xc3]), Buffer.from([0xa9])], 'é', 'UTF-8 may go over the joint'],
  ])('join TXT %j to %j: %s', (data, text) => {
    const packet = dnsPacket.encode({ type: 'response', answers: [{ type: 'TXT', name: 'a', ttl: 1, data }] })
    const message = decodeMessage(packet)
    if (!message.ok) throw new Error(message.problem.text)
    expect(dataOf(message.value, message.value.answers[0]!, 'TXT')).toBe(text)
  })

  it('carry extended errors (RFC 8914), upper bits of the response code (RFC 6891 §6.1.3), TTLs below 2^31 (RFC 2181 §8)', () => {
    const hex =
      '0001' +
      '8182' +
      '0000' +
      '0001' +
      '0000' +
      '0001' + // header
      '00' +
      '0001' +
      '0001' +
      '80000001' +
      '0004' +
      'c0000201' + // A with a TTL over 2^31
      '00' +
      '0029' +
      '04d0' +
      '01010000' +
      '000b' +
      '000f' +
      '0007' +
      '0006' +
      '61' +
      '07' +
      '62' +
      '6300' // OPT
    const message = decodeMessage(Buffer.from(hex, 'hex'))
    if (!message.ok) throw new Error(message.problem.text)
    expect(message.value.rcode).toBe(18)
    expect(message.value.answers[0]!.ttlSeconds).toBe(0)
    expect(message.value.errors).toEqual([{ code: 6, text: 'a bc ' }])
  })
})

/** Reads everything that can be read in a message. */
function readAll(packet: Buffer): void {
  const message = decodeMessage(packet)
  if (!message.ok) return
  for (const type of Object.keys(TYPE_CODES) as RecordType[]) {
    for (const one of message.value.answers) dataOf(message.value, one, type)
    interpret(message.value, message.value.question?.name ?? '', type)
  }
}

describe('the names of one message', () => {
  /**
   * `count` MX records whose owner and exchange point to one name of `labels` one-letter labels; with `jumps` each
   * label is reached by a pointer.
   */
  function message(count: number, labels: number, jumps: boolean): Buffer {
    const head = Buffer.from('000081800001000000000000' + '0161' + '00' + '000f0001', 'hex')
    const chain: Buffer[] = []
    let at = head.length + 11
    let before = -1
    for (let i = 0; i < labels; i++) {
      const end = before < 0 ? [0] : [0xc0 | (before >> 8), before & 255]
      chain.push(Buffer.from([1, 0x78, ...(jumps ? end : i === labels - 1 ? [0] : [])]))
      before = at
      at += chain.at(-1)!.length
    }
    const data = Buffer.concat(chain)
    const target = Buffer.from([0xc0, jumps ? before & 255 : head.length + 11])
    if (jumps) target[0] = 0xc0 | (before >> 8)
    const holder = Buffer.concat([Buffer.from([0, 0, 16, 0, 1, 0, 0, 0, 1, data.length >> 8, data.length & 255]), data])
    const mx = Buffer.concat([target, Buffer.from([0, 15, 0, 1, 0, 0, 0, 1, 0, 4, 0, 1]), target])
    head.writeUInt16BE(count + 1, 6)
    return Buffer.concat([head, holder, ...Array.from({ length: count }, () => mx)])
  }
  const read = (bytes: Buffer): number => {
    const decoded = decodeMessage(bytes)
    if (!decoded.ok) return -1
    return decoded.value.answers.filter((record) => dataOf(decoded.value, record, 'MX') !== undefined).length
  }

  it.each([
    ['2,520 names of 51 octets', 1_260, 25, false, 1_260],
    ['as many of 53', 1_260, 26, false, 1_212],
    ['130 names of 126 pointers', 65, 126, true, 65],
    ['132 of them', 66, 126, true, 64],
    ['all that 64 KiB hold', 3_600, 126, true, -1],
    ['all that 64 KiB hold, without pointers between', 3_600, 126, false, -1],
  ])('%s: %i records', (_, count, labels, jumps, readable) => {
    expect(read(message(count, labels, jumps))).toBe(readable)
  })

  it('reads an answer of 64 KiB that is compressed to be shorter', () => {
    const answers = Array.from({ length: 2_500 }, (_, i) => ({
      type: 'MX',
      name: 'example.com',
      ttl: 60,
      data: { preference: i, exchange: `mx${i}.example.com` },
    }))
    const bytes = dnsPacket.encode({
      type: 'response',
      id: 1,
      questions: [{ type: 'MX', name: 'example.com' }],
      answers,
    })
    expect(bytes.length).toBeGreaterThan(40_000)
    expect(read(bytes)).toBe(2_500)
  })
})
