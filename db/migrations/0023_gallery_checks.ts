import type { Knex } from 'knex'
import { sweepFunction } from './support.ts'

/** Pictures are looked at again every week; why one is broken is kept beside it. */
export const up = async (knex: Knex) => {
  await knex.raw(`alter table gallery_image add problem text`)
  await knex.raw(
    `alter table gallery_image add constraint gallery_image_problem check (length(problem) <= 60 and (problem is null or status = 'broken'))`,
  )
  await knex.raw(`create index gallery_image_due on gallery_image ((coalesce(checked_at, created_at)), id)`)
  await sweepFunction(
    knex,
    'images_due_for_check(before timestamptz, after_at timestamptz, after uuid, most int)',
    'tenant_id uuid, image_id uuid, due timestamptz',
    `select i.tenant_id, i.id, coalesce(i.checked_at, i.created_at) from gallery_image i
     join property y on y.tenant_id = i.tenant_id and y.id = i.property_id and y.status <> 'archived'
     where (coalesce(i.checked_at, i.created_at), i.id) > (after_at, after) and coalesce(i.checked_at, i.created_at) < before
     order by coalesce(i.checked_at, i.created_at), i.id limit most`,
  )
}
