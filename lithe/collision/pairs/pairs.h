#pragma once

#include "lithe/collision/pairs/pair_query.h"

namespace lithe::internal {

// The pair tests, one file each. "round" is a sphere or a capsule (a segment with a radius), "polytope" a box or a mesh.
void round_round_contacts(const PairQuery& query, std::vector<Contact>& out);
Contact round_round_distance(const PairQuery& query);

void round_plane_contacts(const PairQuery& query, std::vector<Contact>& out);
Contact round_plane_distance(const PairQuery& query);

void round_box_contacts(const PairQuery& query, std::vector<Contact>& out);
Contact round_box_distance(const PairQuery& query);

void round_mesh_contacts(const PairQuery& query, std::vector<Contact>& out);
Contact round_mesh_distance(const PairQuery& query);

void sphere_cylinder_contacts(const PairQuery& query, std::vector<Contact>& out);
Contact sphere_cylinder_distance(const PairQuery& query);

void capsule_cylinder_contacts(const PairQuery& query, std::vector<Contact>& out);
Contact capsule_cylinder_distance(const PairQuery& query);

void cylinder_cylinder_contacts(const PairQuery& query, std::vector<Contact>& out);
Contact cylinder_cylinder_distance(const PairQuery& query);

void cylinder_polytope_contacts(const PairQuery& query, std::vector<Contact>& out);
Contact cylinder_polytope_distance(const PairQuery& query);

void cylinder_plane_contacts(const PairQuery& query, std::vector<Contact>& out);
Contact cylinder_plane_distance(const PairQuery& query);

void box_box_contacts(const PairQuery& query, std::vector<Contact>& out);

void box_mesh_contacts(const PairQuery& query, std::vector<Contact>& out);

void polytope_polytope_contacts(const PairQuery& query, std::vector<Contact>& out);
Contact polytope_polytope_distance(const PairQuery& query);

void polytope_plane_contacts(const PairQuery& query, std::vector<Contact>& out);
Contact polytope_plane_distance(const PairQuery& query);

}  // namespace lithe::internal
