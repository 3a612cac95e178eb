/** Who may see and change a thing that was made over the API: the key that made it, and admins. `id` is '' while no key is in force. */
export type Owner = { readonly id: string; readonly isAdmin: boolean }

/** Whether a thing of `owner` is his. */
export const owns = (by: Owner, owner: string): boolean => by.isAdmin || by.id === owner
