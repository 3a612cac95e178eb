/** Calls back for each member whose signal fires. A signal that many questions share has one listener. */
export type Watch<Q> = {
  readonly add: (signal: AbortSignal, member: Q) => void
  readonly remove: (signal: AbortSignal, member: Q) => void
}

export function watch<Q>(fired: (member: Q) => void): Watch<Q> {
  const groups = new Map<AbortSignal, { readonly members: Set<Q>; readonly listener: () => void }>()

  function begin(signal: AbortSignal): Set<Q> {
    const members = new Set<Q>()
    const listener = (): void => {
      groups.delete(signal)
      for (const member of members) fired(member)
    }
    groups.set(signal, { members, listener })
    signal.addEventListener('abort', listener, { once: true })
    return members
  }

  return {
    add: (signal, member) => void (groups.get(signal)?.members ?? begin(signal)).add(member),
    remove: (signal, member) => {
      const group = groups.get(signal)
      if (!group?.members.delete(member) || group.members.size > 0) return
      groups.delete(signal)
      signal.removeEventListener('abort', group.listener)
    },
  }
}
