import { isBuiltInRole, rolePermissions } from '../../config/roles.ts'
import type { Admission } from '../lib/caller.ts'

/** Tells whether the role sees the value of stock. Of the built-in roles of staff, only those that the permission table names do. */
export const seesValue = ({ role }: Pick<Admission, 'role'>): boolean =>
  role === null ||
  !isBuiltInRole(role) ||
  role === 'owner' ||
  role === 'admin' ||
  rolePermissions[role].some((one) => one.subject === 'InventoryStock' && one.condition !== null)
