/** What can be the id of a node of the cluster. */
export const NODE_ID = /^[A-Za-z0-9._-]{1,64}$/
