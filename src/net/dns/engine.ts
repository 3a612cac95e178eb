import { timedOut } from '../../base/deadline.ts'
import { canonicalName } from '../../names/domain.ts'
import type { Message } from './decode.ts'
import { encodeQuery } from './encode.ts'
import { type Reading as AnyReading, interpret, MAX_CHAIN, referralOf } from './interpret.ts'
import { begun, type EngineOptions, type Question } from './question.ts'
import {
  type Answer,
  DnsError,
  type DnsReason,
  RCODE,
  type RecordType,
  type ServerAnswer,
  TYPE_CODES,
} from './resolver.ts'
import type { Server } from './system.ts'
import { pick, recordAnswer, recordFault, type Upstream } from './upstream.ts'
import { type Fault, giveUp, type Handlers, type WireEvent } from './wait.ts'
import { type Cursor, readName } from './wire-name.ts'

type Engine = {
  /** Queries `upstreams` in turn. Rejects with {@link DnsError} and nothing else. */
  readonly ask: <T extends RecordType>(
    upstreams: readonly Upstream<Question>[],
    name: string,
    type: T,
    signal: AbortSignal,
    checkingDisabled: boolean,
    overTcp: boolean,
  ) => Promise<ServerAnswer<T>>
  readonly handlers: Handlers<Question>
  /** Whether any query is in progress. */
  readonly busy: () => boolean
  /** Ends all queries with `aborted`, and refuses new ones. The caller closes its upstreams. */
  readonly close: () => void
}

type Reading = Extract<AnyReading<RecordType>, { readonly chain: readonly string[] }>

const BACK_OFF_MS = 100
/** Number of consecutive faults after which a resolver is asked for the root, which each has in its cache. */
const FAULTS_TO_PROBE = 5
/** Maximum number of times that each of servers that are silent is asked. */
const SILENT_ROUNDS = 2
const NEVER = new AbortController().signal
/** Maximum number of extended errors of a query, over all its answers. */
const MAX_EDE = 16
const PLAIN = /^[a-z0-9._-]*$/
const NONE: readonly never[] = []

/** Sends queries and completes them. It uses callbacks throughout: a query creates one promise and no timer. */
export function engine(options: EngineOptions): Engine {
  const { now, onEvent, trustAd: secure } = options
  let underWay = 0
  const aborts = watch<Question>((question) => {
    giveUp(question)
    end(question, timedOut(question.signal) ? 'timeout' : 'aborted')
  })
  const tell = (event: WireEvent | 'retry', server: Server): void =>
    onEvent?.({ event, server: `${server.ip}:${server.port}` })
  const attempts = new Attempts(options, { end, probe, tell })
  const responses = new Responses(options, attempts, { end, finish })

  function ask<T extends RecordType>(
    upstreams: readonly Upstream<Question>[],
    name: string,
    type: T,
    signal: AbortSignal,
    checkingDisabled: boolean,
    overTcp: boolean,
    tries = isSilent(upstreams) ? 1 : options.tries,
  ): Promise<ServerAnswer<T>> {
    const { promise, resolve, reject } = Promise.withResolvers<ServerAnswer>()
    const shown = canonicalName(name)
    const startedAtMs = now()
    const most = Math.max(tries, upstreams.length)
    const question = begun({
      name: shown,
      type,
      checkingDisabled,
      overTcp,
      signal,
      upstreams,
      startedAtMs,
      resolve,
      reject,
      secure,
      most,
    })
    if (signal.aborted) reject(new DnsError(timedOut(signal) ? 'timeout' : 'aborted', { name: shown, type }))
    else if (!prepare(question, shown, options)) reject(new DnsError('invalid_name', { name: shown, type }))
    else {
      underWay++
      aborts.add(signal, question)
      attempts.next(question, startedAtMs)
    }
    return promise as Promise<never>
  }

  /** Asks a resolver for the root, once. A domain whose servers are slow makes it silent about that domain alone. */
  function probe(at: Upstream<Question>): void {
    const silent = (): void => void (at.isSilent = at.faults >= FAULTS_TO_PROBE)
    ask([at], '.', 'NS', NEVER, false, false, 1).catch(silent)
  }

  function finish(question: Question, message: Message, kind: Answer['kind'], records: ServerAnswer['records']): void {
    const { name, type, chain, secure, ede, ttlSeconds } = question
    done(question, kind)
    const { authoritative } = message
    const answer = { kind, name, type, records, ttlSeconds, cname: chain, secure, ede, authoritative }
    // A non-authoritative answer to a query without recursion may contain a referral.
    const isElsewhere = !options.recursion && kind === 'nodata' && !authoritative && chain.length === 0
    const referral = isElsewhere ? referralOf(message, question.wireName) : undefined
    question.resolve(referral === undefined ? answer : { ...answer, referral })
  }

  function end(question: Question, why: DnsReason | DnsError): void {
    const error = why instanceof DnsError ? why : new DnsError(why, asked(question))
    done(question, error.reason)
    question.reject(error)
  }

  function done(question: Question, outcome: Answer['kind'] | DnsReason): void {
    underWay--
    aborts.remove(question.signal, question)
    const server = question.upstreams[question.place]!.text
    onEvent?.({ event: 'question', type: question.type, outcome, server, durationMs: now() - question.startedAtMs })
  }

  return {
    ask,
    handlers: {
      answered: (question, message) => responses.take(question, message),
      failed: (question, fault, cause) => attempts.failed(question, fault, cause),
      event: tell,
    },
    busy: () => underWay > 0,
    close: () => attempts.close(),
  }
}

/** Writes the query for `name`; false if it cannot be queried. */
function prepare(question: Question, name: string, { recursion }: Pick<EngineOptions, 'recursion'>): boolean {
  const { checkingDisabled, edns } = question
  if (!encodeQuery(question, name, TYPE_CODES[question.type], { recursion, checkingDisabled, edns })) return false
  // The root is written "." and read as "".
  question.wireName =
    PLAIN.test(name) && name !== '.' ? name : readName({ bytes: question.bytes, at: question.start + 12 } as Cursor)!
  return true
}

type OnAttempt = {
  readonly end: (question: Question, why: DnsReason | DnsError) => void
  readonly probe: (at: Upstream<Question>) => void
  readonly tell: (event: 'retry', server: Server) => void
}

/** Asks the servers of a query one after another, until an answer comes or no server, attempt or time is left. */
class Attempts {
  readonly #options: EngineOptions
  readonly #on: OnAttempt
  readonly #backingOff = new Map<NodeJS.Timeout, Question>()
  #closed = false

  constructor(options: EngineOptions, on: OnAttempt) {
    this.#options = options
    this.#on = on
  }

  /** Queries the next server, or completes the query if no server, attempt or time is left. */
  next(question: Question, nowMs = this.#options.now()): void {
    const leftMs = question.startedAtMs + this.#options.totalMs - nowMs
    const { most, upstreams } = question
    const limit = isSilent(upstreams) ? Math.min(most, SILENT_ROUNDS * upstreams.length) : most
    const more = !this.#closed && leftMs > 0 && question.tries < limit
    const place = more ? pick(question.upstreams, question, nowMs) : -1
    if (place < 0) this.#on.end(question, this.#closed ? 'aborted' : (question.failure ?? 'timeout'))
    else this.#send(question, place, nowMs, leftMs)
  }

  #send(question: Question, place: number, nowMs: number, leftMs: number): void {
    const at = question.upstreams[place]!
    if (question.tries > 0) this.#on.tell('retry', at.server)
    question.place = place
    question.tried |= 1 << place
    const again = question.tries++ >= question.upstreams.length
    // The first attempt has its full time. The time of later ones varies by a tenth, so that many queries do not repeat
    // at the same moment.
    const spread = question.tries === 1 ? 1 : 0.9 + 0.2 * this.#options.random()
    question.expiresAtMs = Math.ceil(nowMs + Math.min(leftMs, this.#options.tryMs * (again ? 2 : 1) * spread))
    at.link.ask(question)
  }

  failed(question: Question, fault: Fault, cause?: unknown): void {
    const at = question.upstreams[question.place]!
    recordFault(at, this.#options.now())
    if (this.#options.recursion && at.faults === FAULTS_TO_PROBE) this.#on.probe(at)
    // A server's reply is more specific than the silence of another.
    question.failure ??= new DnsError(fault, asked(question), { server: at.text, cause })
    const everyoneAsked = question.tries >= question.upstreams.length
    if (fault !== 'timeout' && everyoneAsked && !this.#closed) this.#backOff(question)
    else this.next(question)
  }

  /**
   * An unreachable server fails at once: the next round starts a little later, and not at the same moment for all
   * queries.
   */
  #backOff(question: Question): void {
    const timer = setTimeout(
      () => {
        question.holder = undefined
        this.#backingOff.delete(timer)
        this.next(question)
      },
      BACK_OFF_MS * question.tries * (0.5 + this.#options.random()),
    )
    this.#backingOff.set(timer, question)
    question.holder = {
      forget: () => {
        clearTimeout(timer)
        this.#backingOff.delete(timer)
      },
    }
  }

  close(): void {
    this.#closed = true
    for (const question of [...this.#backingOff.values()]) {
      giveUp(question)
      this.next(question)
    }
  }
}

type OnResponse = {
  readonly end: OnAttempt['end']
  readonly finish: (question: Question, message: Message, kind: Answer['kind'], records: Answer['records']) => void
}

/** Reads what servers answer: an answer, a chain that goes on, or a refusal, after which another server is asked. */
class Responses {
  readonly #options: EngineOptions
  readonly #attempts: Attempts
  readonly #on: OnResponse

  constructor(options: EngineOptions, attempts: Attempts, on: OnResponse) {
    this.#options = options
    this.#attempts = attempts
    this.#on = on
  }

  take(question: Question, message: Message): void {
    const at = question.upstreams[question.place]!
    recordAnswer(at)
    const { rcode } = message
    if (rcode === RCODE.noError || rcode === RCODE.nxDomain) this.#read(question, message)
    else if (rcode === RCODE.formErr && question.edns) {
      question.edns = false // RFC 6891 §7: once more without EDNS, to the same server
      prepare(question, question.chain.at(-1) ?? question.name, this.#options)
      at.link.ask(question)
    } else this.#refuse(question, reasonOf(rcode), message)
  }

  /** This server does not know; another may. */
  #refuse(question: Question, reason: DnsReason, message: Message, cause?: unknown): void {
    const server = question.upstreams[question.place]!.text
    const ede = message.errors
    question.out |= 1 << question.place
    if (question.failure === undefined || question.failure.ede.length === 0)
      question.failure = new DnsError(reason, asked(question), { server, ede, cause })
    this.#attempts.next(question)
  }

  #read(question: Question, message: Message): void {
    const reading = interpret(message, question.wireName, question.type)
    const { is } = reading
    if (is === 'cname_loop') this.#on.end(question, 'cname_loop')
    else if (is === 'malformed') this.#refuse(question, 'malformed', message, new Error(reading.problem))
    else if (is === 'referral' && this.#options.recursion) this.#refuse(question, 'refused', message)
    else {
      question.secure &&= message.authenticated
      if (message.errors.length > 0) question.ede = [...question.ede, ...message.errors].slice(0, MAX_EDE)
      if (is === 'referral') {
        question.ttlSeconds = 0
        this.#on.finish(question, message, 'nodata', NONE)
      } else this.#follow(question, message, reading)
    }
  }

  #follow(question: Question, message: Message, reading: Reading): void {
    question.ttlSeconds = Math.min(question.ttlSeconds, reading.ttlSeconds)
    if (reading.chain.length > 0 && !extend(question, reading.chain)) this.#on.end(question, 'cname_loop')
    else if (reading.is === 'answer') this.#on.finish(question, message, reading.kind, reading.records)
    else if (!this.#options.recursion)
      this.#on.finish(question, message, 'nodata', NONE) // another server has to answer the rest
    else {
      question.tries = question.tried = question.out = 0
      prepare(question, reading.chain.at(-1)!, this.#options)
      this.#attempts.next(question)
    }
  }
}

const isSilent = (upstreams: readonly Upstream<Question>[]): boolean => upstreams.every((at) => at.isSilent)

/** Extends the chain; false if it returns to an earlier name, or grows longer than 16. */
function extend(question: Question, more: readonly string[]): boolean {
  const before = [canonicalWire(question), ...question.chain]
  question.chain = [...question.chain, ...more]
  return question.chain.length <= MAX_CHAIN && !more.some((name) => before.includes(name))
}

const asked = ({ name, type }: Question): { name: string; type: string } => ({ name, type })

const canonicalWire = (question: Question): string => (question.chain.length === 0 ? question.wireName : question.name)

function reasonOf(rcode: number): DnsReason {
  if (rcode === RCODE.servFail) return 'servfail'
  if (rcode === RCODE.refused) return 'refused'
  if (rcode === RCODE.formErr) return 'formerr'
  return rcode === RCODE.notImp ? 'notimp' : 'rcode'
}

/** Calls back for each member whose signal fires. A signal that many queries share has one listener. */
function watch<M>(fired: (member: M) => void) {
  const groups = new Map<AbortSignal, { readonly members: Set<M>; readonly listener: () => void }>()
  return {
    add(signal: AbortSignal, member: M): void {
      const known = groups.get(signal)
      if (known) return void known.members.add(member)
      const members = new Set([member])
      const listener = (): void => {
        groups.delete(signal)
        members.forEach(fired)
      }
      groups.set(signal, { members, listener })
      signal.addEventListener('abort', listener, { once: true })
    },
    remove(signal: AbortSignal, member: M): void {
      const group = groups.get(signal)
      if (!group?.members.delete(member) || group.members.size > 0) return
      groups.delete(signal)
      signal.removeEventListener('abort', group.listener)
    },
  }
}
