"""Semi-supervised learning: transductive machines, and manifold regularisation."""
