import { type Answer, DnsError, type RecordType, type Resolve } from '../net/dns/resolver.ts'
import type { Ctx } from '../world.ts'

/** Maximum number of different queries of one check; the owner of the domain decides how many it needs. */
const MOST = 120
/** Number of queries that every check may send. */
const USUAL = 60
/** Number of further queries for each address of a mail host. */
const PER_ADDRESS = 12
/** Number of addresses from which on nothing is added. */
const MOST_ADDRESSES = (MOST - USUAL) / PER_ADDRESS

/**
 * The parts of a check's queries, in order. Of each: the number that nothing else can use up; how many more for each of
 * up to five addresses of mail hosts; and how many more, in this order, of what {@link VARIABLE} have left.
 */
const PARTS = {
  mx: [7, 5, 0],
  spf: [8, 2, 0],
  dmarc: [5, 0, 0],
  dkim: [10, 0, 3],
  ptr: [0, 4, 0],
  senders: [2, 0, 0],
  mta_sts: [1, 0, 0],
  tls_rpt: [1, 0, 0],
  dane: [1, 1, 0],
  dnssec: [4, 0, 2],
  ns: [7, 0, 5],
  consents: [6, 0, 0],
  bimi: [2, 0, 0],
  caa: [2, 0, 0],
  soa: [1, 0, 0],
  guessed: [2, 0, 20],
  plan: [1, 0, 0],
} as const satisfies Readonly<Record<string, readonly [sure: number, each: number, more: number]>>
export type PartName = keyof typeof PARTS
const ORDER = Object.keys(PARTS) as readonly PartName[]
/** The parts whose size the owner of the domain decides. */
const VARIABLE: readonly PartName[] = ['mx', 'spf', 'dmarc']

type Part = {
  /** Whether a query may be sent, by its key; several checks may ask the same. */
  readonly verdicts: Map<string, boolean | Promise<boolean>>
  /** The keys of those that may be sent. */
  readonly sent: string[]
  /** The queries of the parts before it, once they are complete. */
  earlier?: Promise<ReadonlySet<string>>
  /** The decisions of this part, one after another. */
  last: Promise<unknown>
  started: boolean
  readonly ended: PromiseWithResolvers<void>
}

/**
 * The queries of one check, at most 60, 12 more for each address of its mail hosts, and never more than 120. What is
 * left out is decided by the order of {@link PARTS} and within a part by the order in which its lookup asks, never by
 * the order in which answers come: a query beyond its part's own number waits until every part before it is complete. A
 * query that is left out fails with `too_many_questions`, now and in every later look-up of the same check.
 */
export class Questions {
  private parts = newParts()
  /** The queries of earlier look-ups of this check, and whether they were sent. */
  private readonly before = new Map<string, boolean>()
  /** How many queries were sent before this look-up. */
  private spent = 0
  /** Settles when {@link VARIABLE} are complete; what the others get then. */
  private variable: Promise<unknown> | undefined
  private given: ReadonlyMap<PartName, number> | undefined
  private isFirst = true
  private readonly addresses = new Set<unknown>()
  /** The answers about mail hosts, in the order of the queries. */
  private readonly hosts = new Map<string, Promise<unknown>>()
  /** How many queries of `mx` may be sent, by the addresses in the answers so far. */
  private mxLimit: number = PARTS.mx[0]

  /** Begins another look-up of the same check: it may send what the ones before have left. */
  again(): void {
    for (const { verdicts } of this.parts.values())
      for (const [key, verdict] of verdicts) {
        if (typeof verdict !== 'boolean') continue
        if (verdict && !this.before.get(key)) this.spent++
        this.before.set(key, verdict || this.before.get(key) === true)
      }
    this.isFirst &&= !this.parts.values().some(({ started }) => started)
    this.parts = newParts()
  }

  start(...parts: readonly PartName[]): void {
    for (const part of parts) this.parts.get(part)!.started = true
  }

  /** A part asks no more. */
  end(...parts: readonly PartName[]): void {
    for (const part of parts) this.parts.get(part)!.ended.resolve()
  }

  /** The resolver within these limits; the part of a query is one of its options. */
  limited(resolve: Resolve, domain: string): Resolve {
    // Every check asks these, whichever comes first.
    const owners = new Map<string, PartName>([
      [`MX ${domain}`, 'mx'],
      [`TXT ${domain}`, 'spf'],
      [`TXT _dmarc.${domain}`, 'dmarc'],
      ['SOA .', 'dnssec'],
    ])
    return <T extends RecordType>(
      name: string,
      type: T,
      signal: AbortSignal,
      options?: Parameters<Resolve>[3],
    ): Promise<Answer<T>> => {
      const disabled = options?.checkingDisabled === true
      const key = `${type}${disabled ? ' CD' : ''} ${name.toLowerCase()}`
      const part = owners.get(key) ?? (options?.part as PartName | undefined) ?? 'plan'
      const send = () => resolve(name, type, signal, disabled ? { checkingDisabled: true } : undefined)
      const answer = this.within(part, key, { name, type }, send)
      if (part === 'mx' && (type === 'A' || type === 'AAAA')) this.count(key, answer)
      return answer
    }
  }

  /** Sends a query if it may be sent. */
  within<T>(part: PartName, key: string, question: { name: string; type: string }, send: () => Promise<T>): Promise<T> {
    const verdict = this.verdict(part, key)
    if (verdict === true) return send()
    const refuse = (): never => {
      throw new DnsError('too_many_questions', question)
    }
    return Promise.resolve(verdict).then((may) => (may ? send() : refuse()))
  }

  private count(key: string, answer: Promise<Answer>): void {
    const add = ({ records }: Answer): void => {
      for (const address of records) this.addresses.add(address)
    }
    if (!this.hosts.has(key))
      this.hosts.set(
        key,
        answer.then(add, () => {}),
      )
  }

  private verdict(name: PartName, key: string): boolean | Promise<boolean> {
    const known = this.before.get(key)
    if (known !== undefined) return known
    const part = this.parts.get(name)!
    const same = part.verdicts.get(key)
    if (same !== undefined) return same
    const place = part.verdicts.size
    if (this.isFirst && place < PARTS[name][0]) {
      part.verdicts.set(key, true)
      part.sent.push(key)
      return true
    }
    const decided = part.last.then(async () => {
      const may = await this.decide(name, key, place)
      part.verdicts.set(key, may)
      if (may) part.sent.push(key)
      return may
    })
    part.last = decided
    part.verdicts.set(key, decided)
    return decided
  }

  private async decide(name: PartName, key: string, place: number): Promise<boolean> {
    if (this.isFirst && name === 'mx') {
      if (place < this.mxLimit) return true
      await Promise.all([...this.hosts.values()].slice(0, place - 1)) // the first query is that for MX
      this.mxLimit = PARTS.mx[0] + PARTS.mx[1] * this.known()
      return place < this.mxLimit
    }
    if (this.isFirst) {
      await this.parts.get('mx')!.ended.promise
      if (place < this.reserve(name)) return true
      if (PARTS[name][2] > 0) {
        this.variable ??= Promise.all(VARIABLE.map((one) => this.parts.get(one)!.ended.promise))
        await this.variable
        if (place < this.reserve(name) + (this.more().get(name) ?? 0)) return true
      }
    }
    const at = ORDER.indexOf(name)
    const part = this.parts.get(name)!
    part.earlier ??= this.sentBefore(at)
    const sent = await part.earlier
    if (sent.has(key)) return true
    const own = part.sent.filter((one) => !sent.has(one)).length
    return own < this.most() - this.spent - sent.size - (this.isFirst ? this.kept(at) : 0)
  }

  /** What the parts after one have for themselves. */
  private kept(at: number): number {
    const later = ORDER.slice(at + 1)
    const more = at < VARIABLE.length ? [] : later.map((one) => this.more().get(one) ?? 0)
    return more.reduce((sum, count) => sum + count, this.reserved(later))
  }

  private known = (): number => Math.min(MOST_ADDRESSES, this.addresses.size)

  private async sentBefore(at: number): Promise<ReadonlySet<string>> {
    const earlier = ORDER.slice(0, at).map((one) => this.parts.get(one)!)
    await Promise.all(earlier.flatMap(({ started, ended }) => (started ? [ended.promise] : [])))
    return new Set(earlier.flatMap((one) => one.sent))
  }

  private most = (): number => Math.min(MOST, USUAL + PER_ADDRESS * this.addresses.size)

  /** How many queries of a part nothing else can use up, once the mail hosts are known. */
  private reserve(name: PartName): number {
    const [sure, each] = PARTS[name]
    return sure + (name === 'mx' ? 0 : each * this.known())
  }

  private reserved = (parts: readonly PartName[]): number => parts.reduce((sum, one) => sum + this.reserve(one), 0)

  /** What the parts after {@link VARIABLE} get, in order, of what these have left. */
  private more(): ReadonlyMap<PartName, number> {
    if (this.given) return this.given
    const rest = ORDER.slice(VARIABLE.length)
    const sent = new Set(VARIABLE.flatMap((one) => this.parts.get(one)!.sent))
    let left = this.most() - sent.size - this.reserved(rest)
    this.given = new Map(
      rest.map((name) => {
        const given = Math.max(0, Math.min(PARTS[name][2], left))
        left -= given
        return [name, given]
      }),
    )
    return this.given
  }
}

const newParts = (): Map<PartName, Part> =>
  new Map(
    ORDER.map((name) => [
      name,
      { verdicts: new Map(), sent: [], last: Promise.resolve(), started: false, ended: Promise.withResolvers() },
    ]),
  )

/** A context whose queries are of a part of the check's queries, but for those of a part within it. */
export function inPart<C extends Pick<Ctx, 'resolve' | 'questions'>>(ctx: C, part: PartName): C {
  if (!ctx.questions) return ctx
  const { resolve: ask } = ctx
  const resolve: Resolve = (name, type, signal, options) => ask(name, type, signal, { part, ...options })
  return { ...ctx, resolve }
}
