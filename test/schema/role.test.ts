import { expect } from 'chai'
import { openDatabase } from '../../db/lib/connection.ts'
import { checkRole, roleProblem } from '../../db/lib/role-check.ts'
import { useDatabase } from '../support/database.ts'

describe('the start of a process', () => {
  const world = useDatabase()

  it('takes the role of the service', async () => {
    await openDatabase(world.database.url)
    expect(await roleProblem()).to.equal(null)
  })

  it('refuses the role that owns the tables', async () => {
    await openDatabase(world.database.ownerUrl)
    const said: string[] = []
    await checkRole((why) => said.push(why))
    expect(said.join()).to.match(/^DATABASE_URL: pousada_owner owns tables/)
  })

  it('refuses a superuser', async () => {
    await openDatabase(world.database.adminUrl)
    expect(await roleProblem()).to.equal('pousada_admin is a superuser')
  })

  it('refuses a role that bypasses row-level security', async () => {
    await world.database.admin.raw(`alter role pousada_service bypassrls`)
    try {
      await openDatabase(world.database.url)
      expect(await roleProblem()).to.equal('pousada_service bypasses row-level security')
    } finally {
      await world.database.admin.raw(`alter role pousada_service nobypassrls`)
    }
  })
})

describe('what the role of the service could put in front of the tables', () => {
  const world = useDatabase()

  it('is nothing: it makes no temporary tables', async () => {
    const made = await world.database.service.raw(`create temporary table membership (user_id uuid)`).then(
      () => 'made',
      (error: { code: string }) => error.code,
    )
    expect(made).to.equal('42501')
  })

  it('would not be seen by functions that run as the owner: temporary tables come last there', async () => {
    const { rows } = await world.database.admin.raw<{ rows: { name: string }[] }>(
      `select p.proname as name from pg_proc p where p.prosecdef and p.pronamespace = 'public'::regnamespace
         and not coalesce('search_path=public, pg_temp' = any(p.proconfig), false)
         and not exists (select from pg_depend d where d.objid = p.oid and d.deptype = 'e') order by 1`,
    )
    expect(rows.map(({ name }) => name)).to.deep.equal([])
  })
})
