/**
 * Who may see and change an object that was created over the API: the key that created it, and admins. `id` is '' while
 * no key is in force.
 */
export type Owner = { readonly id: string; readonly isAdmin: boolean }

/** Whether the caller owns an object of `owner`. */
export const owns = (by: Owner, owner: string): boolean => by.isAdmin || by.id === owner
