import type { ControlDeclaration } from '../financial/index.ts'

/** Stock is worth what its lines say. */
export const inventoryControls: ControlDeclaration[] = [
  {
    kind: 'stock',
    text: `select m.id as document_id, sum(l.value)::bigint as amount from inventory_movement m
      join inventory_movement_line l on l.tenant_id = m.tenant_id and l.movement_id = m.id
      join inventory_location k on k.tenant_id = l.tenant_id and k.id = l.location_id
      join property p on p.tenant_id = k.tenant_id and p.id = k.property_id and p.book_id = :bookId
      where m.tenant_id = :tenantId group by m.id`,
  },
]
