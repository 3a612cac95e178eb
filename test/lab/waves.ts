import type { AskServer, Resolve } from '../../src/net/dns/resolver.ts'
import type { Fetch } from '../../src/net/fetch.ts'
import type { Connection, Dial } from '../../src/net/smtp/dial.ts'

/**
 * A network on which all that waits together is answered together: how many round trips something costs, whatever the
 * machine's speed.
 */
export type Waves = {
  /** Settles with the wave under way. */
  readonly wait: () => Promise<void>
  /** Waves so far. */
  readonly waits: () => number
}

/** After so many turns of the event loop all that can go on without an answer waits for one. */
const TURNS = 12
const afterTurns = (turns: number, go: () => void): void =>
  void setImmediate(turns > 1 ? () => afterTurns(turns - 1, go) : go)

export function waves(): Waves {
  let waits = 0
  let open: (() => void)[] = []
  const answer = (): void => {
    waits++
    const ready = open
    open = []
    for (const go of ready) go()
  }
  return {
    waits: () => waits,
    wait: () =>
      new Promise<void>((go) => {
        if (open.push(go) === 1) afterTurns(TURNS, answer)
      }),
  }
}

/** A resolver each of whose questions costs one wait; those that are under way together share it. */
export function inWaves(
  resolve: Resolve,
  on: Waves = waves(),
): { readonly resolve: Resolve; readonly waits: () => number } {
  return {
    waits: on.waits,
    resolve: async (name, type, signal, options) => {
      await on.wait()
      return resolve(name, type, signal, options)
    },
  }
}

/** A question straight to a name server: one wait. */
export const askServerInWaves =
  (askServer: AskServer, on: Waves): AskServer =>
  async (...question) => {
    await on.wait()
    return askServer(...question)
  }

/** An HTTPS request costs four waits: the host's addresses, the connection, TLS 1.3 (RFC 8446 §2), and the answer. */
export const fetchInWaves =
  (fetch: Fetch, on: Waves): Fetch =>
  async (...request) => {
    for (let n = 0; n < 4; n++) await on.wait()
    return fetch(...request)
  }

/**
 * An SMTP connection: one wait to connect, one for the greeting, one for the replies to each batch that is written, one
 * for TLS 1.3 (RFC 8446 §2).
 */
export const dialInWaves =
  (dial: Dial, on: Waves): Dial =>
  async (target, signal) => {
    await on.wait()
    return connectionInWaves(await dial(target, signal), on)
  }

function connectionInWaves(connection: Connection, on: Waves): Connection {
  let due: Promise<void> | undefined = on.wait()
  return {
    ...connection,
    read: async () => {
      await due
      due = undefined
      return connection.read()
    },
    write: async (bytes) => {
      await connection.write(bytes)
      due = on.wait()
    },
    startTls: async (name) => {
      await on.wait()
      return connection.startTls(name)
    },
  }
}
