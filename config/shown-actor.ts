type Known = { type: string; id: string | null }
type Shown<A extends Known> = { type: Exclude<A['type'], 'superuser'>; id: A['id'] }

/**
 * The actor of a fact as people of a tenant get it, in trail, feed, deliveries and histories alike: an operator of the service is `support`, without an id.
 * The trail names the support session, and the trail of operators the person.
 */
export const shownActor = <A extends Known>({ type, id }: A): Shown<A> =>
  (type === 'superuser' || type === 'support' ? { type: 'support', id: null } : { type, id }) as Shown<A>
