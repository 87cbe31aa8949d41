/**
 * SQL: whether a record is of the houses of the caller (`:propertyIds`, null for all). Records of the whole book have none, and are seen by all; so is what
 * they come to.
 */
export const ofHouses = (record: string): string =>
  `(cast(:propertyIds as uuid[]) is null or ${record}.property_id is null or ${record}.property_id = any(cast(:propertyIds as uuid[])))`
