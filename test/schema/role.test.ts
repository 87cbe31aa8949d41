import { expect } from 'chai'
import { openDatabase } from '../../db/connection.ts'
import { checkRole, roleProblem } from '../../db/role-check.ts'
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
