import type { Knex } from 'knex'

const refers = (column: string) => `foreign key (tenant_id, ${column}) references company (tenant_id, id)`

/** The firm that a booking is for, the agency that made it with the rate of its commission, the firm of a group, and the firm that pays a folio. */
export const up = async (knex: Knex) => {
  await knex.raw(`alter table booking add company_id uuid, add agency_id uuid, add commission_rate int,
    add constraint booking_commission_rate check (commission_rate between 0 and 5000 and (commission_rate is null or agency_id is not null)),
    add ${refers('company_id')}, add ${refers('agency_id')}`)
  for (const column of ['company', 'agency'])
    await knex.raw(
      `create index booking_${column} on booking (tenant_id, ${column}_id, created_at desc) where ${column}_id is not null`,
    )
  await knex.raw(`alter table folio add payer_company_id uuid, add ${refers('payer_company_id')},
    add constraint folio_one_payer check (payer_guest_id is null or payer_company_id is null)`)
  await knex.raw(
    `create index folio_payer_company on folio (tenant_id, payer_company_id) where payer_company_id is not null`,
  )
  await knex.raw(`alter table booking_group add company_id uuid, add ${refers('company_id')}`)
  await knex.raw(
    `create index booking_group_company on booking_group (tenant_id, company_id) where company_id is not null`,
  )
  const [{ text }] = (await knex.raw(`select pg_get_functiondef('record_on_the_books(uuid[])'::regprocedure) as text`))
    .rows as [{ text: string }]
  const told = text.replace(
    'null::uuid as company_id, null::uuid as agency_id',
    'b.company_id as company_id, b.agency_id as agency_id',
  )
  if (told === text) throw new Error('record_on_the_books is not as it was')
  await knex.raw(told.replaceAll('?', '\\?'))
}
