export const audiences = ['all', 'front_desk', 'housekeeping', 'billing', 'relations'] as const
export type Audience = (typeof audiences)[number]

const whole: readonly Audience[] = audiences
/** The audiences whose notes reach a role (R12). */
const ofRole: Readonly<Record<string, readonly Audience[]>> = {
  owner: whole,
  admin: whole,
  manager: whole,
  receptionist: ['all', 'front_desk', 'housekeeping', 'billing'],
  housekeeper: ['housekeeping'],
  finance: ['all', 'billing'],
  relations: ['all', 'relations'],
  // An auditor reads no notes.
  auditor: [],
}

/**
 * The audiences whose notes a role reads. A role of the tenant's own, or an API key (null), reads what is for all, where it may read guests.
 */
export const audiencesOf = (role: string | null, readsGuests: boolean): readonly Audience[] =>
  (role === null ? undefined : ofRole[role]) ?? (readsGuests ? ['all'] : [])
