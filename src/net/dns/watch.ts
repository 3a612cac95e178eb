/** An object that can be watched for a signal; the watch owns the links. */
type Watched<Q> = { before: Q | undefined; after: Q | undefined }

/** Calls back for each member whose signal fires. A signal that many queries share has one listener. */
type Watch<Q> = {
  readonly add: (signal: AbortSignal, member: Q) => void
  readonly remove: (signal: AbortSignal, member: Q) => void
}

type Group<Q> = { first: Q | undefined; readonly listener: () => void }

/** Members are linked to each other, so adding and removing one of many thousands allocates nothing. */
export function watch<Q extends Watched<Q>>(fired: (member: Q) => void): Watch<Q> {
  const groups = new Map<AbortSignal, Group<Q>>()
  let lastSignal: AbortSignal | undefined
  let lastGroup: Group<Q> | undefined

  /** Most queries share the signal of the previous one. */
  function groupOf(signal: AbortSignal): Group<Q> | undefined {
    if (signal === lastSignal) return lastGroup
    const group = groups.get(signal)
    if (!group) return undefined
    lastSignal = signal
    lastGroup = group
    return group
  }

  function begin(signal: AbortSignal): Group<Q> {
    const listener = (): void => {
      const group = groups.get(signal)
      end(signal)
      for (let member = group?.first; member; ) {
        const { after } = member
        fired(member)
        member = after
      }
    }
    const group: Group<Q> = { first: undefined, listener }
    groups.set(signal, group)
    signal.addEventListener('abort', listener, { once: true })
    return group
  }

  function end(signal: AbortSignal): void {
    groups.delete(signal)
    if (signal === lastSignal) lastSignal = lastGroup = undefined
  }

  function add(signal: AbortSignal, member: Q): void {
    const group = groupOf(signal) ?? begin(signal)
    member.after = group.first
    if (group.first) group.first.before = member
    group.first = member
  }

  function remove(signal: AbortSignal, member: Q): void {
    const group = groupOf(signal)
    if (!group) return
    if (member.before) member.before.after = member.after
    else group.first = member.after
    if (member.after) member.after.before = member.before
    member.before = member.after = undefined
    if (group.first) return
    end(signal)
    signal.removeEventListener('abort', group.listener)
  }
  return { add, remove }
}
