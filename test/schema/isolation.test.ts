import { expect } from 'chai'
import { sql } from '../../db/connection.ts'
import { useDatabase } from '../support/database.ts'

describe('the role of the service', () => {
  const world = useDatabase()

  it('is no superuser, bypasses nothing and owns nothing', async () => {
    const [row] = await sql(
      world.database.service,
      `select current_user as name, rolsuper, rolbypassrls, rolcreaterole, rolcreatedb,
         (select count(*) from pg_class where relowner = r.oid) as owned
       from pg_roles r where rolname = current_user`,
    )
    expect(row).to.deep.equal({
      name: 'pousada_service',
      rolsuper: false,
      rolbypassrls: false,
      rolcreaterole: false,
      rolcreatedb: false,
      owned: 0,
    })
  })
})
