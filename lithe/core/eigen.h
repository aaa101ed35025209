#pragma once

#include <Eigen/Core>

namespace lithe {

using Vec3 = Eigen::Vector3d;
using Vec4 = Eigen::Vector4d;
using Vec6 = Eigen::Matrix<double, 6, 1>;
using Vec10 = Eigen::Matrix<double, 10, 1>;
using Mat3 = Eigen::Matrix3d;
using Mat6 = Eigen::Matrix<double, 6, 6>;
using Mat3X = Eigen::Matrix<double, 3, Eigen::Dynamic>;
using Mat6X = Eigen::Matrix<double, 6, Eigen::Dynamic>;
using VecX = Eigen::VectorXd;
using MatX = Eigen::MatrixXd;

// How functions take vectors and matrices: anything that Eigen can view without a copy.
using ConstVecRef = Eigen::Ref<const VecX>;
using VecRef = Eigen::Ref<VecX>;

}  // namespace lithe
