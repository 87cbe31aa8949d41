import { setTimeout as wait } from 'node:timers/promises'
import { database, isUnreachable, sqlOne } from './connection.ts'

type Role = { name: string; isSuper: boolean; bypasses: boolean; owns: string | null }

const judge = (role: Role): string | null => {
  if (role.isSuper) return `${role.name} is a superuser`
  if (role.bypasses) return `${role.name} bypasses row-level security`
  return role.owns === null ? null : `${role.name} owns tables (${role.owns})`
}

/** Tells why row-level security would not hold for the role of the open connection; null if it holds. */
export const roleProblem = async (): Promise<string | null> => {
  const role = await sqlOne<Role>(
    database(),
    `select rolname as name, rolsuper as is_super, rolbypassrls as bypasses,
       (select min(relname) from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')
          and pg_has_role(r.oid, c.relowner, 'usage')) as owns
     from pg_roles r where rolname = current_user`,
  )
  return role === null ? null : judge(role)
}

/**
 * Refuses to work with a role that owns the tables or passes by row-level security: `refused` is told why. While PostgreSQL is away the
 * question waits for it, and the start goes on.
 */
export const checkRole = async (refused: (why: string) => void): Promise<void> => {
  const ask = async () => {
    const problem = await roleProblem()
    if (problem !== null)
      refused(`DATABASE_URL: ${problem}; connect as a role that neither owns nor bypasses, such as pousada_service`)
  }
  const later = async () => {
    for (;;) {
      await wait(1_000, undefined, { ref: false })
      try {
        return await ask()
      } catch (error) {
        if (!isUnreachable(error)) throw error
      }
    }
  }
  try {
    await ask()
  } catch (error) {
    if (!isUnreachable(error)) throw error
    later().catch((failure: unknown) =>
      refused(failure instanceof Error ? failure.message : 'the role of DATABASE_URL cannot be read'),
    )
  }
}
