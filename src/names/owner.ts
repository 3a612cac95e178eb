/**
 * Who may see and change an object that was created over the API: the key that created it, and admins. `id` is '' while
 * no key is in force.
 */
export type Owner = { readonly id: string; readonly isAdmin: boolean }

/** Whether the caller owns an object of `owner`. */
export const owns = (by: Owner, owner: string): boolean => by.isAdmin || by.id === owner

/** The caller, as far as ownership needs it. */
type By = { readonly caller?: { readonly key?: string; readonly isAdmin: boolean } }

/**
 * The owner of an object that a call creates: the key of the request; while no key is in force, and on the command
 * line, all callers are one owner.
 */
export const ownerOf = ({ caller }: By): Owner => ({ id: caller?.key ?? '', isAdmin: caller?.isAdmin ?? true })
